// The playground. Python is asked by the trigger `ask` and answers in `data`: `scene` with its
// points, `revision` of the scene that the answer is of, and events of the running `ticket` from
// number `after` on. What was asked for and did not come is asked for again, so nothing is lost where
// answers overtake each other.

const LENGTH = 4000; // milliseconds from the first to the last frame at speed 1
const PATIENCE = 5000; // milliseconds after which a question counts as lost
const MOST_METHODS = 3;
const NOTHING = 1e-9; // a difference of shares that is none
const REFERENCES = { original: "Original", retrain: "Retrain" };
const SPEEDS = [0.25, 0.5, 1, 2, 4];
const TOOLS = [["point", "Point"], ["lasso", "Lasso"], ["cluster", "Cluster"], ["draw", "Draw"]];
// where keys mean something else; on the slider of the player they do what they do everywhere
const WRITES = "input:not(.time), textarea, select, [contenteditable], [role=slider], .original canvas";
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const percent = (value) => (value == null ? "–" : `${Math.round(100 * value)} %`);
const clip = (value) => Math.min(1, Math.max(-1, value));
// Own points lie on the 256 places of an axis that the model can see.
const snapped = (value) => {
  const place = Math.round(((clip(value) + 1) / 2) * 255) / 127.5 - 1;
  return Math.round(10000 * place) / 10000;
};

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

class Playground {
  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.revision = 0;
    this.pressed = 0; // the revision with which Forget was pressed last
    this.scene = null;
    this.points = [];
    this.run = null;
    this.time = 1;
    this.playing = false;
    this.speed = 1;
    this.tool = "point";
    this.pen = 0;
    this.cursor = null;
    this.path = null;
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
    new ResizeObserver(() => this.paint()).observe(root);
  }

  // --- answers -----------------------------------------------------------------------------------

  take(data, tell) {
    this.tell = tell;
    this.data = data;
    const first = this.scene === null;
    if (first || data.revision >= this.revision) {
      this.revision = data.revision;
      this.scene = data.scene;
      this.points = data.points;
      this.pointsOf = parts(data.scene, DATA);
      if (this.run && !sameData(this.run.scene, data.scene)) this.run = null;
    }
    // an answer from before Forget was pressed may still be on its way
    if (data.run && data.revision >= this.pressed) this.takeEvents(data.run);
    if (first) this.build();
    this.sync();
    this.paint();
  }

  takeEvents({ ticket, scene, after, events, ahead }) {
    if (this.run?.ticket !== ticket) {
      if (!sameData(scene, this.scene)) return;
      const forgotten = new Set(scene.forget);
      this.run = { ticket, scene, forgotten, models: {}, have: 0, ended: false };
      this.time = this.still.matches ? 1 : 0;
      this.playing = false;
    }
    const run = this.run;
    run.ahead = ahead;
    clearTimeout(run.waiting);
    if (after <= run.have) {
      for (const event of events.slice(run.have - after)) this.takeEvent(event);
      run.have = Math.max(run.have, after + events.length);
    }
    if (!run.ended) run.waiting = setTimeout(() => this.pull(), this.data.pause);
  }

  takeEvent(event) {
    const { run } = this;
    const model = () => (run.models[event.who] ??= { frames: [] });
    if (event.kind === "scene") run.classes = event.classes;
    else if (event.kind === "frame") {
      model().frames.push({ ...event, grid: unpack(event.grid) });
      const method = run.scene.methods.includes(event.who);
      if (method && model().frames.length === 2 && !this.time && !this.still.matches) this.start();
    } else if (event.kind === "done") model().done = event;
    else if (event.kind === "error") {
      if (event.who) model().error = event.sentence;
      else run.error = event.sentence;
    } else if (event.kind === "end") {
      run.ended = true;
      if (this.data.fixed) this.tell("ask", { what: "ended", at: Date.now() });
    }
  }

  // --- questions ---------------------------------------------------------------------------------

  pull() {
    const { run } = this;
    if (!run || run.ended) return;
    this.tell("ask", { what: "events", ticket: run.ticket, after: run.have, at: Date.now() });
    run.waiting = setTimeout(() => this.pull(), PATIENCE);
  }

  changed(scene, points = null) {
    this.scene = { ...this.scene, ...scene };
    if (points) [this.points, this.pointsOf] = [points, parts(this.scene, DATA)];
    this.revision += 1;
    if (this.run && !sameData(this.run.scene, this.scene)) this.run = null;
    clearTimeout(this.asking);
    this.asking = setTimeout(() => this.ask("scene"), 250);
    this.sync();
    this.paint();
  }

  ask(what) {
    clearTimeout(this.asking);
    this.tell("ask", { what, scene: this.scene, revision: this.revision, at: Date.now() });
  }

  forget() {
    if (this.find(".forget").disabled) return;
    clearTimeout(this.run?.waiting);
    this.run = null;
    this.playing = false;
    this.revision += 1;
    this.pressed = this.revision;
    this.ask("forget");
    this.root.focus({ preventScroll: true }); // space shall play, and not forget once more
    this.sync();
    this.paint();
  }

  // --- the player --------------------------------------------------------------------------------

  methods() {
    const methods = this.run?.scene.methods ?? [];
    return methods.map((who) => this.run.models[who]).filter((one) => one?.frames.length);
  }

  start() {
    if (!this.methods().length) return;
    if (this.time >= 1) this.time = 0;
    this.playing = true;
    this.last = null;
    requestAnimationFrame((now) => this.tick(now));
    this.sync();
  }

  tick(now) {
    if (!this.playing || !this.root.isConnected) return;
    const passed = this.last === null ? 0 : now - this.last;
    this.time = Math.min(1, this.time + (passed * this.speed) / LENGTH);
    this.last = now;
    // while frames still come in, time waits at the last one
    const known = Math.max(0, ...this.methods().map((one) => one.frames.at(-1).share));
    if (!this.run.ended) this.time = Math.min(this.time, known);
    if (this.time >= 1) this.playing = false;
    this.sync();
    this.paint();
    if (this.playing) requestAnimationFrame((later) => this.tick(later));
  }

  stop() {
    this.playing = false;
    this.sync();
    this.paint();
  }

  move(time) {
    this.time = time;
    this.stop();
  }

  step(by) {
    const shares = this.methods().flatMap((one) => one.frames.map((frame) => frame.share));
    const ahead = shares.filter((share) => by * (share - this.time) > NOTHING);
    if (by > 0) this.move(Math.min(1, ...ahead));
    else this.move(Math.max(0, ...ahead));
  }

  again() {
    if (!this.methods().length) return;
    this.time = 0;
    if (this.still.matches) this.stop();
    else this.start();
  }

  // The frame to show: the newest of a reference, that of the moment of a method.
  frame(who) {
    const frames = this.run?.models[who]?.frames ?? [];
    if (!this.run?.scene.methods.includes(who)) return frames.at(-1);
    return frames.findLast((frame) => frame.share <= this.time + NOTHING) ?? frames[0];
  }

  // --- gestures ----------------------------------------------------------------------------------

  // The points to forget; none while the points of another choice are still to come.
  chosen() {
    return new Set(this.settled() ? this.scene.forget : []);
  }

  settled() {
    return this.pointsOf === parts(this.scene, DATA);
  }

  choose(indices, mode = "toggle") {
    if (!this.settled()) return;
    const chosen = mode === "only" ? new Set() : this.chosen();
    for (const at of indices) if (mode !== "toggle" || !chosen.delete(at)) chosen.add(at);
    this.changed({ preset: null, forget: [...chosen].sort((one, other) => one - other) });
  }

  act(place, reach) {
    if (this.tool === "draw") return this.drawPoint(place);
    const at = nearestTo(this.points, place, reach);
    if (at < 0) return;
    if (this.tool !== "cluster") return this.choose([at]);
    const cluster = clusterOf(this.points, at);
    const chosen = this.chosen();
    if (!chosen.has(at)) return this.choose(cluster, "add");
    this.choose(cluster.filter((each) => chosen.has(each)));
  }

  drawPoint([x, y]) {
    if (!this.settled() || this.points.length >= this.data.limits.points) return;
    const points = [...this.points, [snapped(x), snapped(y), this.pen]];
    this.changed({ preset: null, points: "own", own: points }, points);
  }

  undo() {
    const points = this.points.slice(0, -1);
    const forget = this.scene.forget.filter((at) => at < points.length);
    this.changed({ preset: null, points: "own", own: points, forget }, points);
  }

  placeOf(event) {
    const box = this.find(".original canvas").getBoundingClientRect();
    const across = (event.clientX - box.left) / box.width;
    const down = (event.clientY - box.top) / box.height;
    return [clip(2 * across - 1), clip(1 - 2 * down)];
  }

  listen() {
    const canvas = this.find(".original canvas");
    canvas.onpointerdown = (event) => {
      if (event.button || this.data.fixed) return;
      this.cursor = null;
      this.path = [this.placeOf(event)];
      // a finger scrolls the page, unless it is to draw a line
      if (event.pointerType === "mouse" || this.tool === "lasso") canvas.setPointerCapture(event.pointerId);
    };
    canvas.onpointermove = (event) => {
      if (!this.path || this.tool === "draw") return;
      if (event.pointerType !== "mouse" && this.tool !== "lasso") return;
      this.path.push(this.placeOf(event));
      this.paint();
    };
    canvas.onpointerup = (event) => {
      const path = this.path;
      this.path = null;
      if (!path) return;
      const width = canvas.clientWidth;
      const moved = Math.max(...path.map((place) => apart(place, path[0])));
      if ((moved * width) / 2 > 8) {
        const found = this.points.flatMap((point, at) => (inside(path, point) ? [at] : []));
        this.choose(found, "add");
      } else this.act(path[0], ((event.pointerType === "mouse" ? 12 : 24) * 2) / width);
    };
    canvas.onpointercancel = () => {
      this.path = null;
      this.paint();
    };
    canvas.onkeydown = (event) => this.withoutMouse(event);
    canvas.onblur = () => {
      this.cursor = null;
      this.paint();
    };
    const on = (name, act) => (this.find(name).onclick = () => act());
    on(".forget", () => this.forget());
    on(".again", () => this.again());
    on(".play", () => (this.playing ? this.stop() : this.start()));
    on(".step", () => this.step(1));
    on(".back", () => this.step(-1));
    on(".outliers", () => this.choose(outliersOf(this.points), "add"));
    on(".nothing", () => this.choose([], "only"));
    on(".undo", () => this.undo());
    on(".empty", () => this.changed({ preset: null, points: "own", own: [], forget: [] }, []));
    on(".other", () => this.changed({ preset: null, seed: (this.scene.seed + 1) % 1000, forget: [] }));
    this.find(".time").oninput = (event) => this.move(event.target.value / 1000);
    this.find(".speed").onchange = (event) => (this.speed = Number(event.target.value));
    this.find(".shape").onchange = (event) => this.takeShape(event.target.value);
    this.find(".noise").oninput = (event) =>
      this.changed({ preset: null, noise: Number(event.target.value), forget: [] });
    this.find(".add").onchange = (event) => {
      const { value } = event.target;
      event.target.value = "";
      if (value) this.changed({ preset: null, methods: [...this.scene.methods, value] });
    };
  }

  takeOut(method) {
    const methods = this.scene.methods.filter((each) => each !== method);
    this.changed({ preset: null, methods });
  }

  takeShape(shape) {
    if (shape === "own") this.changed({ preset: null, points: shape, own: this.points }, this.points);
    else this.changed({ preset: null, points: shape, own: [], forget: [] });
  }

  // The canvas in focus: arrows lead from point to point, Enter does what a click does.
  withoutMouse(event) {
    if (this.data.fixed || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) {
      const from = this.cursor ?? [0, 0];
      if (this.tool === "draw") this.cursor = from.map((value, axis) => snapped(value + arrow[axis] / 16));
      else {
        const at = this.cursor ? nextTowards(this.points, from, arrow) : nearestTo(this.points, from);
        if (at >= 0) this.cursor = this.points[at].slice(0, 2);
      }
    } else if (event.key === "Enter" || event.key === " ") this.act(this.cursor ?? [0, 0], 0.01);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.sync();
    this.paint();
  }

  // Space, arrows and R from anywhere on the page where they mean nothing else.
  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0];
    if (!this.methods().length || target.matches?.(WRITES)) return;
    if (document.querySelector('[role="dialog"], [data-baseweb="popover"]')) return;
    // who presents walks through the page with arrows and space; there, focus tells
    const mine = event.composedPath().includes(this.root);
    if (!mine && new URLSearchParams(window.location.search).get("present") === "1") return;
    if (event.key === " " && target.matches?.("button, a, summary")) return;
    const acts = {
      " ": () => (this.playing ? this.stop() : this.start()),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      r: () => this.again(),
      R: () => this.again(),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Streamlit takes R for a wish to draw the page anew
    act();
  }

  // --- what is shown -----------------------------------------------------------------------------

  build() {
    const { data } = this;
    const option = ([value, text]) => element("option", { value, textContent: text });
    this.find(".shape").append(...data.shapes.map(option));
    this.find(".speed").append(...SPEEDS.map((each) => option([each, `${each}×`])));
    this.find(".speed").value = 1;
    this.find(".noise").max = data.limits.noise;
    this.find(".noise").step = 0.01;
    this.find(".examples").append(
      ...data.presets.map(({ id, title, scene }) =>
        element("button", {
          type: "button",
          textContent: title,
          onclick: () => this.changed({ ...scene, preset: id }),
          value: id,
        }),
      ),
    );
    this.find(".tool").append(
      ...TOOLS.map(([value, textContent]) =>
        radio({ value, textContent, onclick: () => this.hold({ tool: value }) }),
      ),
    );
    this.find(".pens").append(
      ...Array.from({ length: data.limits.classes }, (_, at) =>
        radio({ value: at, textContent: `Class ${at + 1}`, onclick: () => this.hold({ pen: at }) }),
      ),
    );
    this.find(".meanings").replaceChildren(
      ...data.meanings.flatMap(({ title, text }) => [
        element("dt", { textContent: title }),
        element("dd", { textContent: text }),
      ]),
    );
    this.find(".legend").textContent = data.legend;
  }

  hold(what) {
    Object.assign(this, what);
    this.sync();
    this.paint();
  }

  title(who) {
    return REFERENCES[who] ?? this.data.methods.find((one) => one.id === who)?.title ?? who;
  }

  sync() {
    const { data, scene, run, root } = this;
    const colors = Object.entries(data.look.page);
    for (const [name, color] of colors) root.style.setProperty(`--${name}`, color);
    for (const name of [".examples", ".scene", ".tools"]) this.find(name).hidden = Boolean(data.fixed);
    for (const button of this.find(".examples").children)
      button.setAttribute("aria-pressed", String(button.value === scene.preset));
    const preset = data.presets.find((one) => one.id === scene.preset);
    this.find(".teaches").textContent = data.fixed ? "" : (preset?.sentence ?? "");
    this.find(".shape").value = scene.points;
    this.find(".noise").value = scene.noise;
    this.find(".scene output").textContent = Number(scene.noise).toFixed(2);
    const own = scene.points === "own";
    this.find(".noise").disabled = this.find(".other").disabled = own;
    this.syncMethods();
    for (const button of this.find(".tool").children) check(button, button.value === this.tool);
    for (const button of this.find(".pens").children) check(button, Number(button.value) === this.pen);
    const drawing = this.tool === "draw";
    this.find(".pens").hidden = this.find(".empty").hidden = !drawing;
    this.find(".undo").hidden = !drawing || !own;
    this.find(".undo").disabled = !this.points.length;
    this.find(".outliers").hidden = drawing;
    this.find(".nothing").hidden = drawing || !scene.forget.length;
    this.find(".original canvas").classList.toggle("dragging", this.tool === "lasso" || drawing);
    this.find(".said").textContent = this.said();
    const busy = Boolean(run && !run.ended);
    this.find(".forget").disabled = !scene.forget.length || !scene.methods.length;
    const able = this.methods().length > 0;
    for (const name of [".again", ".play", ".step", ".back", ".time"]) this.find(name).disabled = !able;
    this.find(".play").textContent = this.playing ? "Pause" : "Play";
    this.find(".time").value = Math.round(1000 * this.time);
    this.find(".time").setAttribute("aria-valuetext", percent(this.time));
    root.setAttribute("aria-busy", String(busy));
    const status = this.find(".status");
    const sentence = this.statusSentence();
    if (status.textContent !== sentence) status.textContent = sentence; // or it is read aloud each time
    status.classList.toggle("wrong", Boolean(data.problem || run?.error));
  }

  syncMethods() {
    const { data, scene } = this;
    this.find(".chosen").replaceChildren(
      ...scene.methods.map((id) => {
        const method = data.methods.find((one) => one.id === id);
        const button = element("button", {
          type: "button",
          title: "Take it out",
          onclick: () => this.takeOut(id),
        });
        button.innerHTML = method?.mark ?? "";
        button.append(` ${this.title(id)} ×`);
        button.setAttribute("aria-label", `Take out ${this.title(id)}`);
        button.style.borderLeftColor = method?.color ?? "";
        return button;
      }),
    );
    const free = data.methods.filter((one) => !scene.methods.includes(one.id));
    this.find(".add").replaceChildren(
      element("option", { value: "", textContent: "Add one" }),
      ...free.map((one) => element("option", { value: one.id, textContent: one.title })),
    );
    this.find(".adding").hidden = scene.methods.length >= MOST_METHODS;
  }

  said() {
    const count = this.scene.forget.length;
    const many = `${count} of ${this.points.length} points to forget.`;
    if (!this.cursor || this.tool === "draw") return many;
    const at = nearestTo(this.points, this.cursor);
    const inSet = this.scene.forget.includes(at) ? ", to be forgotten" : "";
    return `Point ${at + 1}, class ${this.points[at][2] + 1}${inSet}. ${many}`;
  }

  statusSentence() {
    const { data, scene, run } = this;
    if (data.problem) return data.problem;
    if (run?.error) return run.error;
    if (!run) {
      if (data.revision < this.pressed) return "Starting …";
      if (!scene.forget.length) return "Click points in the first picture, or draw a line around them.";
      return scene.methods.length ? "Press Forget." : "Add a method.";
    }
    if (!run.ended) {
      const now = Object.keys(run.models).findLast((who) => !run.models[who].done);
      if (now) return `${this.title(now)} is at work …`;
      return run.ahead ? `Others come first: ${run.ahead}. Yours follows by itself.` : "Starting …";
    }
    if (sameScene(run.scene, scene)) return this.outcome();
    return "The pictures show what was forgotten before. Press Forget for the new choice.";
  }

  // What became of the points: Retrain's number first, for it is the goal.
  outcome() {
    const { models, scene } = this.run;
    const done = ["retrain", ...scene.methods].filter((who) => models[who]?.done);
    const named = done.map((who) => `${this.title(who)} ${percent(models[who].done.numbers.fa)}`);
    return named.length ? `Of the points to forget each names right: ${named.join(", ")}.` : "";
  }

  cards() {
    const stage = this.find(".stage");
    const methods = this.run ? this.run.scene.methods : this.scene.methods;
    const wanted = ["retrain", ...methods.flatMap((who) => [who, `${who}:difference`])];
    for (const card of [...stage.children])
      if (card.dataset.who !== "original" && !wanted.includes(card.dataset.who)) card.remove();
    for (const who of wanted) {
      if (stage.querySelector(`[data-who="${who}"]`)) continue;
      const kind = who === "retrain" ? "retrain" : who.endsWith(":difference") ? "difference" : "method";
      const canvas = element("canvas", { role: "img" });
      const card = element(
        "figure",
        { className: `card ${kind}` },
        element("figcaption"),
        canvas,
        element("div", { className: "numbers" }),
      );
      card.dataset.who = who;
      stage.append(card);
    }
    stage.style.setProperty("--rows", Math.max(1, methods.length));
    methods.forEach((who, row) => {
      for (const name of [who, `${who}:difference`]) {
        const card = stage.querySelector(`[data-who="${name}"]`);
        card.style.setProperty("--row", row + 1);
        stage.append(card);
      }
    });
    return stage.querySelectorAll(".card");
  }

  paint() {
    if (!this.scene || !this.root.isConnected) return;
    for (const card of this.cards()) {
      const [who, difference] = card.dataset.who.split(":");
      if (difference) this.paintAway(card, who);
      else this.paintModel(card, who);
    }
  }

  paintModel(card, who) {
    const { run, data } = this;
    const canvas = card.querySelector("canvas");
    const first = who === "original";
    const frame = this.frame(who);
    const method = data.methods.find((one) => one.id === who);
    const caption = card.querySelector("figcaption");
    const title = first && !data.fixed ? "Original: choose what to forget here" : this.title(who);
    if (caption.dataset.title !== title) {
      caption.dataset.title = title;
      caption.innerHTML = method?.mark ?? "";
      caption.append(`${method ? " " : ""}${title}`);
    }
    card.style.setProperty("--family", method?.color ?? "transparent");
    if (frame) paintField(canvas, frame.grid, run.classes, data.look);
    else paintGround(canvas, data.look);
    const marked = first || !run ? this.chosen() : run.forgotten;
    paintPoints(canvas, this.points, marked, data.look);
    if (first && this.path?.length > 1) paintLasso(canvas, this.path, data.look);
    if (first && this.cursor) paintCursor(canvas, this.cursor, data.look);
    const words = this.words(card.querySelector(".numbers"), run?.models[who], frame);
    canvas.setAttribute("aria-label", `${this.title(who)}. ${first ? data.help : ""} ${words}`);
    card.dataset.step = frame ? frame.step : "";
  }

  words(place, model, frame) {
    if (model?.error) {
      place.replaceChildren(element("span", { className: "words", textContent: model.error }));
      return model.error;
    }
    const last = model?.done && frame === model.frames.at(-1);
    const numbers = (last ? model.done.numbers : frame?.numbers) ?? {};
    const shown = frame ? this.data.meanings.map(({ id, title }) => [title, percent(numbers[id])]) : [];
    place.replaceChildren(
      ...shown.map(([title, text]) =>
        element("span", { textContent: title }, element("b", { textContent: text })),
      ),
    );
    return frame ? shown.map((each) => each.join(" ")).join(", ") : "Nothing yet.";
  }

  paintAway(card, who) {
    const { run, data } = this;
    const canvas = card.querySelector("canvas");
    const [frame, base] = [this.frame(who), run?.models.retrain?.frames.at(-1)];
    card.querySelector("figcaption").textContent = "Difference";
    const place = card.querySelector(".numbers");
    let words = "Nothing yet.";
    if (frame && base && run.models.retrain.done && base.grid.length === frame.grid.length) {
      paintDifference(canvas, frame.grid, base.grid, run.classes, data.look);
      const { done, frames } = run.models[who];
      const there = frame === frames.at(-1) ? done?.difference?.at_forget : null;
      words = `${percent(meanAway(frame.grid, base.grid, run.classes))} from Retrain on average`;
      if (there != null) words += `, ${percent(there)} at the points to forget`;
    } else paintGround(canvas, data.look);
    paintPoints(canvas, this.points, run?.forgotten ?? this.chosen(), data.look, true);
    place.replaceChildren(element("span", { className: "words", textContent: frame ? words : "" }));
    canvas.setAttribute("aria-label", `Where ${this.title(who)} differs from Retrain. ${words}`);
  }
}

const radio = (properties) => {
  const made = element("button", { type: "button", ...properties });
  made.setAttribute("role", "radio");
  return made;
};

const check = (button, on) => button.setAttribute("aria-checked", String(on));

const DATA = ["points", "noise", "seed", "own"];
const SCENE = [...DATA, "forget", "methods"];
const parts = (scene, names) => JSON.stringify(names.map((name) => scene[name] ?? null));
const sameData = (one, other) => parts(one, DATA) === parts(other, DATA);
const sameScene = (one, other) => parts(one, SCENE) === parts(other, SCENE);

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".playground");
  const playground = (root.playground ??= new Playground(root));
  playground.take(data, setTriggerValue);
  const leave = () => window.removeEventListener("keydown", root.key, true);
  leave();
  root.key = (event) => playground.key(event);
  window.addEventListener("keydown", root.key, true);
  return leave;
}
