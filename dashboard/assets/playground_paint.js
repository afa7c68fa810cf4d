// Pictures of the playground. A grid holds probabilities in 0..255, row 0 at the top, the classes of
// a cell beside each other.

const channels = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

const unpack = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// Half the sum of the differences over the classes: the share of probability that lies elsewhere.
const awayFrom = (grid, base, cell, classes) => {
  let sum = 0;
  for (let at = cell * classes; at < (cell + 1) * classes; at++) sum += Math.abs(grid[at] - base[at]);
  return sum / 510;
};

const meanAway = (grid, base, classes) => {
  const cells = grid.length / classes;
  let sum = 0;
  for (let cell = 0; cell < cells; cell++) sum += awayFrom(grid, base, cell, classes);
  return sum / cells;
};

// The canvas as large as it is shown, and a pencil whose unit is one CSS pixel.
const pencilOf = (canvas) => {
  const density = window.devicePixelRatio || 1;
  const [width, height] = extent(canvas).map((side) => Math.max(1, Math.round(side * density)));
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pencil = canvas.getContext("2d");
  pencil.setTransform(density, 0, 0, density, 0, 0);
  return pencil;
};

const extent = (canvas) => [canvas.clientWidth, canvas.clientHeight];

const paintCells = (canvas, cells, colorOf) => {
  const side = Math.round(Math.sqrt(cells));
  const small = (paintCells.small ??= document.createElement("canvas"));
  small.width = small.height = side;
  const image = new ImageData(side, side);
  for (let cell = 0; cell < cells; cell++) image.data.set([...colorOf(cell), 255], 4 * cell);
  small.getContext("2d").putImageData(image, 0, 0);
  const pencil = pencilOf(canvas);
  pencil.imageSmoothingQuality = "high";
  pencil.drawImage(small, 0, 0, ...extent(canvas));
};

const mixed = (ground, hue, share) => ground.map((low, at) => low + share * (hue[at] - low));

// Colour says the class that the model would name, its saturation how sure the model is.
const paintField = (canvas, grid, classes, look) => {
  const ground = channels(look.ground);
  const hues = look.classes.map(channels);
  paintCells(canvas, grid.length / classes, (cell) => {
    let best = 0;
    for (let each = 1; each < classes; each++)
      if (grid[cell * classes + each] > grid[cell * classes + best]) best = each;
    const sure = (grid[cell * classes + best] / 255 - 1 / classes) / (1 - 1 / classes);
    return mixed(ground, hues[best], 0.06 + 0.6 * sure);
  });
};

const paintDifference = (canvas, grid, base, classes, look) => {
  const [ground, hue] = [channels(look.ground), channels(look.strong)];
  paintCells(canvas, grid.length / classes, (cell) =>
    mixed(ground, hue, Math.sqrt(awayFrom(grid, base, cell, classes))),
  );
};

const paintGround = (canvas, look) => {
  const pencil = pencilOf(canvas);
  pencil.fillStyle = look.ground;
  pencil.fillRect(0, 0, ...extent(canvas));
};

// One shape a class, so that classes differ without colour.
const OUTLINES = [
  (pencil, x, y, r) => pencil.arc(x, y, r, 0, 2 * Math.PI),
  (pencil, x, y, r) => pencil.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r),
  (pencil, x, y, r) => corners(pencil, x, y, r, [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]]),
  (pencil, x, y, r) => corners(pencil, x, y, r, [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]),
];

const corners = (pencil, x, y, r, places) => {
  places.forEach(([right, down], at) => pencil[at ? "lineTo" : "moveTo"](x + r * right, y + r * down));
  pencil.closePath();
};

const placed = ([x, y], [width, height]) => [((x + 1) / 2) * width, ((1 - y) / 2) * height];

// All points; those to forget are drawn last: hollow, or while they are chosen with a thick outline.
const paintPoints = (canvas, points, forgotten, look, { hollow = true, alone = false } = {}) => {
  const pencil = pencilOf(canvas);
  const size = extent(canvas);
  const radius = Math.max(2.4, size[0] / 110);
  const draw = (at, marked) => {
    const [x, y] = placed(points[at], size);
    pencil.beginPath();
    OUTLINES[points[at][2]](pencil, x, y, marked ? 1.15 * radius : radius);
    pencil.closePath();
    pencil.fillStyle = look.points[points[at][2]];
    if (!marked || !hollow) pencil.fill();
    pencil.lineWidth = marked ? 1.1 : 0.8;
    pencil.strokeStyle = marked ? `${look.text}cc` : look.ground;
    pencil.stroke();
  };
  if (!alone) points.forEach((_, at) => forgotten.has(at) || draw(at, false));
  for (const at of forgotten) if (at < points.length) draw(at, true);
};

const paintCursor = (canvas, place, look) => {
  const pencil = pencilOf(canvas);
  const [x, y] = placed(place, extent(canvas));
  pencil.beginPath();
  pencil.arc(x, y, 11, 0, 2 * Math.PI);
  for (const [across, down] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    pencil.moveTo(x + 7 * across, y + 7 * down);
    pencil.lineTo(x + 16 * across, y + 16 * down);
  }
  pencil.lineWidth = 2;
  pencil.strokeStyle = look.primary;
  pencil.stroke();
};

const paintLasso = (canvas, path, look) => {
  const pencil = pencilOf(canvas);
  pencil.beginPath();
  path.forEach((place, at) => pencil[at ? "lineTo" : "moveTo"](...placed(place, extent(canvas))));
  pencil.closePath();
  pencil.fillStyle = `${look.primary}30`;
  pencil.fill();
  pencil.lineWidth = 1.5;
  pencil.strokeStyle = look.primary;
  pencil.stroke();
};
