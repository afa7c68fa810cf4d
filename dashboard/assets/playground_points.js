// Points of the playground, [x, y, class] with coordinates in -1..1: which ones a gesture means.

const apart = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

const nearestTo = (points, place, reach = Infinity) => {
  let best = -1;
  for (let at = 0, least = reach; at < points.length; at++) {
    const distance = apart(points[at], place);
    if (distance <= least) [best, least] = [at, distance];
  }
  return best;
};

// The nearest point within a quarter turn of a direction: where an arrow key leads.
const nextTowards = (points, from, [right, up]) => {
  let best = -1;
  let least = Infinity;
  points.forEach((point, at) => {
    const [x, y] = [point[0] - from[0], point[1] - from[1]];
    const [along, across] = [x * right + y * up, Math.abs(x * up) + Math.abs(y * right)];
    const cost = along + 2 * across;
    if (along > 0 && across <= along && cost < least) [best, least] = [at, cost];
  });
  return best;
};

const inside = (polygon, [x, y]) => {
  let odd = false;
  for (let at = 0, before = polygon.length - 1; at < polygon.length; before = at++) {
    const [[x1, y1], [x2, y2]] = [polygon[at], polygon[before]];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) odd = !odd;
  }
  return odd;
};

const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

// Distances of each point to the others of its class, in rising order.
const ownDistances = (points) =>
  points.map((point, at) =>
    points
      .flatMap((other, there) => (there !== at && other[2] === point[2] ? [apart(point, other)] : []))
      .sort((one, other) => one - other),
  );

// The points of one class that a chain of short steps leads to; a step is short that is not longer
// than twice the usual way to the third neighbour.
const clusterOf = (points, start) => {
  const third = ownDistances(points).flatMap((each) => (each.length > 2 ? [each[2]] : []));
  const reach = third.length ? 2 * median(third) : 0;
  const found = new Set([start]);
  for (const at of found)
    points.forEach((point, there) => {
      if (point[2] === points[start][2] && apart(point, points[at]) <= reach) found.add(there);
    });
  return [...found];
};

// Points among which another class prevails (three of the five nearest), and such as lie far from
// all of their own: their third neighbour is four times as far as is usual.
const outliersOf = (points) => {
  const own = ownDistances(points);
  const usual = median(own.flatMap((each) => (each.length > 2 ? [each[2]] : [])));
  return points.flatMap((point, at) => {
    const nearest = points
      .map((other, there) => [there === at ? Infinity : apart(point, other), other[2]])
      .sort((one, other) => one[0] - other[0])
      .slice(0, 5);
    const strangers = nearest.filter(([, label]) => label !== point[2]).length;
    return strangers >= 3 || (own[at][2] ?? 0) > 4 * usual ? [at] : [];
  });
};
