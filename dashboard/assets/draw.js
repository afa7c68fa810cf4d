// The ink is kept here, SIZE dots along a side. What is sent is the mean of squares of it; one drawing is on its way at a time, and the newest follows as soon as
// the answer to the one before is here, so a slow server gets fewer drawings and never an old one.
const SIZE = 280;
const PATIENCE = 3000; // milliseconds after which an answer is not waited for any more
const STEPS = 40; // that can be taken back
const STEP = 10; // dots that an arrow key moves the pen

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Grey pixels row by row, as text, on a small canvas of their own. */
function paint(canvas, text) {
  const pixels = bytes(text);
  const side = Math.round(Math.sqrt(pixels.length));
  canvas.width = canvas.height = side;
  const context = canvas.getContext("2d");
  const found = context.createImageData(side, side);
  pixels.forEach((value, place) => found.data.set([value, value, value, 255], 4 * place));
  context.putImageData(found, 0, 0);
  return canvas;
}

function picture(text, label) {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  return text === null ? canvas : paint(canvas, text);
}

class Pad {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector(".ink");
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    Object.assign(this, { tool: "pen", fitted: true, sample: -1, kind: 0, past: [], number: 0, heard: 0, waiting: false, latencies: [] });
    this.cursor = { x: SIZE / 2, y: SIZE / 2 };
    this.blank();
    this.listen();
  }

  find(name) {
    return this.root.querySelector(name);
  }

  blank() {
    this.context.fillStyle = "#000";
    this.context.fillRect(0, 0, SIZE, SIZE);
  }

  get thickness() {
    return Number(this.find(".thickness").value);
  }

  listen() {
    const canvas = this.canvas;
    canvas.onpointerdown = (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      this.pressed = true;
      canvas.focus({ preventScroll: true });
      this.pressed = false;
      canvas.setPointerCapture(event.pointerId);
      this.keyed = false;
      this.keep();
      this.pointer = event.pointerId;
      this.last = this.place(event);
      if (this.tool === "move") this.grabbed = { ...this.last, image: this.context.getImageData(0, 0, SIZE, SIZE) };
      else this.line(this.last, this.last);
      this.changed();
    };
    canvas.onpointermove = (event) => {
      if (event.pointerId !== this.pointer) return;
      const places = (event.getCoalescedEvents?.() ?? []).map((one) => this.place(one));
      for (const place of places.length ? places : [this.place(event)]) {
        if (this.tool === "move") this.shift(this.grabbed.image, place.x - this.grabbed.x, place.y - this.grabbed.y);
        else this.line(this.last, place);
        this.last = place;
      }
      this.changed();
    };
    canvas.onpointerup = canvas.onpointercancel = (event) => {
      if (event.pointerId === this.pointer) this.pointer = null;
    };
    canvas.onkeydown = (event) => this.key(event);
    canvas.onfocus = () => {
      this.keyed = canvas.matches(":focus-visible") && !this.pressed;
      this.showCursor();
    };
    canvas.onblur = () => this.showCursor();
    for (const button of this.root.querySelectorAll("[data-tool]"))
      button.onclick = () => {
        this.tool = button.dataset.tool;
        this.show();
      };
    this.find(".thickness").oninput = () => this.showCursor();
    this.find(".undo").onclick = () => this.undo();
    this.find(".clear").onclick = () => this.clear();
    this.find(".fitted").onchange = (event) => {
      this.fitted = event.target.checked;
      this.changed();
    };
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: ((event.clientX - box.left) * SIZE) / box.width, y: ((event.clientY - box.top) * SIZE) / box.height };
  }

  line(from, to) {
    this.context.strokeStyle = this.tool === "eraser" ? "#000" : "#fff";
    Object.assign(this.context, { lineWidth: this.thickness, lineCap: "round", lineJoin: "round" });
    this.context.beginPath();
    this.context.moveTo(from.x, from.y);
    this.context.lineTo(to.x + 0.01, to.y);
    this.context.stroke();
  }

  /** An image moved by whole pixels of the data set's images, so that they stay as sharp as they were. */
  shift(image, right, down) {
    const step = SIZE / this.data.side;
    this.blank();
    this.context.putImageData(image, Math.round(right / step) * step, Math.round(down / step) * step);
    this.fitted = false;
  }

  key(event) {
    this.keyed = true;
    const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (right || down) {
      if (this.tool === "move") {
        const step = SIZE / this.data.side;
        this.keep();
        this.shift(this.context.getImageData(0, 0, SIZE, SIZE), right * step, down * step);
        this.changed();
      } else {
        const before = { ...this.cursor };
        this.cursor.x = Math.min(SIZE, Math.max(0, before.x + right * STEP));
        this.cursor.y = Math.min(SIZE, Math.max(0, before.y + down * STEP));
        if (event.shiftKey) {
          this.keep();
          this.line(before, this.cursor);
          this.changed();
        }
      }
    } else if (event.key === " " || event.key === "Enter") {
      if (this.tool !== "move") {
        this.keep();
        this.line(this.cursor, this.cursor);
        this.changed();
      }
    } else if (event.key === "Delete" || event.key === "Backspace") this.clear();
    else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) this.undo();
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.showCursor();
  }

  keep() {
    const { fitted, sample } = this;
    this.past.push({ image: this.context.getImageData(0, 0, SIZE, SIZE), fitted, sample });
    if (this.past.length > STEPS) this.past.shift();
  }

  undo() {
    const before = this.past.pop();
    if (!before) return;
    this.context.putImageData(before.image, 0, 0);
    Object.assign(this, { fitted: before.fitted, sample: before.sample });
    this.changed();
  }

  clear() {
    this.keep();
    this.blank();
    Object.assign(this, { fitted: true, sample: -1 });
    this.changed();
  }

  begin({ id, pixels }) {
    this.keep();
    const found = bytes(pixels);
    const side = Math.round(Math.sqrt(found.length));
    const cell = SIZE / side;
    this.blank();
    found.forEach((value, place) => {
      this.context.fillStyle = `rgb(${value}, ${value}, ${value})`;
      this.context.fillRect((place % side) * cell, Math.floor(place / side) * cell, cell, cell);
    });
    Object.assign(this, { fitted: false, sample: id });
    this.changed();
  }

  /** Means of squares, `grid` of them along a side, and whether there is any ink. */
  squares() {
    const { grid } = this.data;
    const cell = SIZE / grid;
    const pixels = this.context.getImageData(0, 0, SIZE, SIZE).data;
    const sums = new Float64Array(grid * grid);
    for (let y = 0; y < SIZE; y++)
      for (let x = 0; x < SIZE; x++) sums[Math.floor(y / cell) * grid + Math.floor(x / cell)] += pixels[4 * (y * SIZE + x)];
    return Uint8Array.from(sums, (sum) => Math.round(sum / cell ** 2));
  }

  changed() {
    this.moved = performance.now();
    this.show();
    this.send();
  }

  send() {
    const now = performance.now();
    if (this.number > this.heard && now - this.sent < PATIENCE) {
      this.waiting = true;
      return;
    }
    Object.assign(this, { number: this.number + 1, sent: now, waiting: false, since: this.moved ?? now });
    const { fitted, sample, number } = this;
    this.tell("drawing", { ink: btoa(String.fromCharCode(...this.squares())), fitted, sample, number });
  }

  receive(data, tell) {
    Object.assign(this, { data, tell });
    // a server that was started again, or another page's drawing, knows higher numbers
    this.number = Math.max(this.number, data.number);
    if (data.number > this.heard) {
      this.heard = data.number;
      this.latencies.push(performance.now() - this.since);
      this.root.dataset.latencies = JSON.stringify(this.latencies.slice(-200).map(Math.round));
    }
    this.show();
    this.answer();
    this.starts();
    if (this.waiting) this.send();
    this.open();
  }

  /** An empty pad opens on a test image of a forgotten class, so that there is something to see before the first stroke. */
  open() {
    const images = this.data.starts[0]?.images;
    if (this.opened || !images?.length) return;
    this.opened = true;
    if (this.number || this.past.length) return;
    this.begin(images.find(({ gone }) => gone) ?? images[0]);
  }

  show() {
    for (const button of this.root.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.dataset.tool === this.tool));
    this.find(".fitted").checked = this.fitted;
    this.find(".undo").disabled = !this.past.length;
    const empty = !this.squares().some((value) => value > 25);
    this.find(".clear").disabled = empty;
    this.find(".hint").hidden = !empty;
    this.find(".hint").textContent = this.data.hint;
    this.canvas.setAttribute("aria-label", `${this.data.hint}. ${this.find(".keys").textContent.trim()}`);
    this.canvas.style.cursor = this.tool === "move" ? "move" : "crosshair";
    this.showCursor();
  }

  showCursor() {
    const ring = this.find(".cursor");
    ring.hidden = !this.keyed || !this.canvas.matches(":focus") || this.tool === "move";
    Object.assign(ring.style, { left: `${this.cursor.x}px`, top: `${this.cursor.y}px`, width: `${this.thickness}px`, height: `${this.thickness}px` });
  }

  answer() {
    const { names, gone, titles, answer, colors } = this.data;
    const read = answer?.models;
    const eye = this.find(".seen");
    if (answer) paint(eye, answer.seen);
    else eye.getContext("2d").clearRect(0, 0, eye.width, eye.height);
    this.find(".said").textContent = answer ? answer.said : this.data.invitation;
    this.find("thead").innerHTML = "";
    this.find("thead").append(cells("tr", [head("Class", "col"), ...titles.map((title) => head(title, "col"))]));
    const tops = read?.map(({ probabilities }) => probabilities.indexOf(Math.max(...probabilities)));
    this.find("tbody").replaceChildren(
      ...names.map((name, place) => {
        const first = head(name, "row");
        if (gone.includes(place)) first.classList.add("gone");
        const row = cells("tr", [first, ...titles.map((_, model) => bar(read?.[model].probabilities[place], colors.models[model], tops?.[model] === place))]);
        row.classList.toggle("top", Boolean(tops?.includes(place)));
        return row;
      }),
    );
    const near = titles.map((_, model) => neighbours(read?.[model].neighbours ?? []));
    this.find("tfoot").replaceChildren(cells("tr", [head("Nearest training images", "row"), ...near]));
  }

  starts() {
    const { starts } = this.data;
    const kinds = this.find(".kinds");
    kinds.replaceChildren(
      ...starts.map(({ title }, kind) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = title;
        button.setAttribute("aria-pressed", String(kind === this.kind));
        button.onclick = () => {
          this.kind = kind;
          this.starts();
        };
        return button;
      }),
    );
    this.find(".images").replaceChildren(
      ...(starts[this.kind]?.images ?? []).map((one) => {
        const button = document.createElement("button");
        button.type = "button";
        button.title = one.text;
        button.dataset.sample = one.id;
        button.append(picture(one.pixels, one.text));
        button.onclick = () => this.begin(one);
        return button;
      }),
    );
  }
}

function cells(name, children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function head(text, scope) {
  const made = document.createElement("th");
  made.scope = scope;
  made.textContent = text;
  return made;
}

function bar(share, color, top) {
  const percent = share === undefined ? "" : `${Math.round(100 * share)}\u202f%`;
  const fill = document.createElement("i");
  fill.style.width = `${100 * (share ?? 0)}%`;
  fill.style.setProperty("--color", color);
  const number = cells("span", [percent]);
  const made = cells("td", [cells("div", [cells("span", [fill]), number])]);
  made.firstChild.className = "bar";
  made.classList.toggle("top", top);
  return made;
}

function neighbours(found) {
  const row = cells(
    "div",
    found.map(({ text, name, forgotten, pixels }) => {
      const figure = cells("figure", [picture(pixels, text), cells("figcaption", [name.replaceAll("/", "/\u200b")])]);
      figure.title = text;
      figure.classList.toggle("forgotten", forgotten);
      return figure;
    }),
  );
  row.className = "near";
  return cells("td", [row]);
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".board");
  for (const [name, color] of Object.entries(data.colors)) if (typeof color === "string") root.style.setProperty(`--${name}`, color);
  if (!root.pad) {
    root.querySelector(".thickness").value = 30;
    root.pad = new Pad(root);
  }
  root.pad.receive(data, setStateValue);
}
