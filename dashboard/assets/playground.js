// The playground. Python is asked by the trigger `ask` and answers in `data`: `scene` with its
// points, `revision` of the scene that the answer is of, and events of the running `ticket` from
// number `after` on. What was asked for and did not come is asked for again, so nothing is lost where
// answers overtake each other.

const LENGTH = 4000; // milliseconds from the first to the last frame at speed 1
const PATIENCE = 5000; // milliseconds after which a question counts as lost
const MOST_METHODS = 3;
const NOTHING = 1e-9; // a difference of shares that is none
const LEFT = 0.05; // of the forgotten points that much more than Retrain gets right: not forgotten
const LOST = 0.02; // of other points that much less than Retrain: something else was lost
const REFERENCES = { original: "Original", retrain: "Retrain" };
const SPEEDS = [0.25, 0.5, 1, 2, 4];
const TOOLS = [["point", "Point"], ["lasso", "Lasso"], ["cluster", "Cluster"], ["draw", "Draw"]];
// where keys mean something else; on the slider of the player they do what they do everywhere
const WRITES = "input:not(.time), textarea, select, [contenteditable], [role=slider], .original canvas";
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const SLIDERS = `<svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.5">
  <path d="M1 4h7M12 4h3M1 12h3M8 12h7"/><circle cx="10" cy="4" r="2"/><circle cx="6" cy="12" r="2"/></svg>`;

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
    this.run = null; // what was forgotten on these points
    this.field = null; // Original alone, while nothing was
    this.time = 1;
    this.playing = false;
    this.speed = 1;
    this.leaving = 0; // when a link to another page was clicked
    this.opening = 0; // until when the window of a method's settings is waited for
    this.tool = "point";
    this.away = false; // whether the difference from Retrain is shown
    this.pen = 0;
    this.cursor = null;
    this.path = null;
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
    new ResizeObserver(() => this.paint()).observe(root);
  }

  // --- answers -----------------------------------------------------------------------------------

  take(data, tell) {
    // What is told after the click on a link brings this page back while the other one is drawn, and
    // leaves that one blank.
    this.tell = (name, value) => {
      if (Date.now() > this.leaving + PATIENCE) tell(name, value);
    };
    this.data = data;
    if (this.pending && Number(data.asked) >= this.pending.at) this.pending = null;
    const first = this.scene === null;
    if (first || data.revision >= this.revision) {
      this.revision = data.revision;
      this.scene = data.scene;
      this.points = data.points;
      this.pointsOf = parts(data.scene, DATA);
      this.drop();
    }
    // an answer from before Forget was pressed may still be on its way
    if (data.run && data.revision >= this.pressed) this.takeEvents(data.run);
    if (first) this.build();
    this.sync();
    this.paint();
  }

  takeEvents({ ticket, scene, field, after, events, ahead }) {
    const part = field ? "field" : "run";
    if (this[part]?.ticket !== ticket) {
      if (!sameData(scene, this.scene)) return;
      clearTimeout(this[part]?.waiting);
      const [forgotten, before] = [new Set(scene.forget), field ? this.pictured() : null];
      this[part] = { ticket, scene, forgotten, models: {}, have: 0, ended: false, before };
      if (!field) Object.assign(this, { time: this.still.matches ? 1 : 0, playing: false });
    }
    const run = this[part];
    run.ahead = ahead;
    clearTimeout(run.waiting);
    if (after <= run.have) {
      for (const event of events.slice(run.have - after)) this.takeEvent(run, event);
      run.have = Math.max(run.have, after + events.length);
    }
    if (!run.ended) run.waiting = setTimeout(() => this.pull(run), this.data.pause);
  }

  takeEvent(run, event) {
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
      if (this.data.fixed && run === this.run) this.ask("ended");
    }
  }

  // --- questions ---------------------------------------------------------------------------------

  pull(run) {
    if (run.ended || (run !== this.run && run !== this.field) || !this.root.isConnected) return;
    run.waiting = setTimeout(() => this.pull(run), this.held() ? this.data.pause : PATIENCE);
    if (this.pending || this.held()) return;
    this.tell("ask", { what: "events", ticket: run.ticket, after: run.have, at: this.stamp() });
  }

  // Whether a window is open, or about to be: it is drawn by the page, which a question would stop.
  held() {
    const open = document.querySelector('[role="dialog"]') !== null;
    if (open) this.opening = 0;
    return open || Date.now() < this.opening;
  }

  // What was played on other points is not shown on these. While own points are drawn, the picture
  // of a moment ago stays until the next one comes.
  drop() {
    if (this.run && !sameData(this.run.scene, this.scene)) this.run = null;
    const drawing = this.field?.scene.points === "own" && this.scene.points === "own";
    if (this.field && !drawing && !sameData(this.field.scene, this.scene)) this.field = null;
  }

  changed(scene, points = null) {
    this.scene = { ...this.scene, ...scene };
    if (points) [this.points, this.pointsOf] = [points, parts(this.scene, DATA)];
    this.revision += 1;
    this.drop();
    clearTimeout(this.asking);
    this.asking = setTimeout(() => this.ask("scene"), 250);
    this.sync();
    this.paint();
  }

  // What a visitor did is told until it was heard: a question for events that comes right after it
  // would take its place.
  ask(what, more = {}) {
    clearTimeout(this.asking);
    this.pending = { what, scene: this.scene, revision: this.revision, at: this.stamp(), ...more };
    this.insist();
  }

  insist() {
    clearTimeout(this.insisting);
    if (!this.pending || !this.root.isConnected) return;
    this.tell("ask", this.pending);
    this.insisting = setTimeout(() => this.insist(), PATIENCE);
  }

  // The page was left: nothing is asked any more, and what was not heard is not said later.
  leave() {
    this.pending = null;
    const timers = [this.asking, this.insisting, this.run?.waiting, this.field?.waiting];
    for (const timer of timers) clearTimeout(timer);
  }

  // The time of a question, by which its answer is known.
  stamp() {
    return (this.stamped = Math.max(Date.now(), (this.stamped ?? 0) + 1));
  }

  forget() {
    if (this.find(".forget").disabled) return;
    clearTimeout(this.run?.waiting);
    clearTimeout(this.field?.waiting);
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

  // The field with a picture: the one of a moment ago until the next one has come.
  pictured() {
    const { field } = this;
    if (!field?.models.original) return field?.before ?? null;
    field.before = null;
    return field;
  }

  // Where a model comes from: Original is there before anything was forgotten.
  source(who) {
    return who === "original" && !this.run?.models[who] ? this.pictured() : this.run;
  }

  // The frame to show: the newest of a reference, that of the moment of a method.
  frame(who) {
    if (who === "original") return this.source(who)?.models[who]?.frames.at(-1);
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
    on(".away", () => this.hold({ away: !this.away }));
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

  // An example is played at once.
  open(scene) {
    this.changed(scene);
    if (sameScene(this.run?.scene ?? {}, scene)) return this.again();
    this.forget();
  }

  // The points that are there become the reader's own.
  drawOwn() {
    this.hold({ tool: "draw" });
    this.takeShape("own");
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
    // who presents walks through the page with arrows; of space and R, focus tells
    const mine = event.composedPath().includes(this.root) && !ARROWS[event.key];
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
          onclick: () => this.open({ ...scene, preset: id }),
          value: id,
        }),
      ),
      element("button", {
        type: "button",
        textContent: "Draw your own",
        value: "own",
        onclick: () => this.drawOwn(),
      }),
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
    root.classList.toggle("large", Boolean(data.large));
    const colors = Object.entries(data.look.page);
    for (const [name, color] of colors) root.style.setProperty(`--${name}`, color);
    for (const name of [".examples", ".menu"]) this.find(name).hidden = Boolean(data.fixed);
    this.find(".tools").hidden = Boolean(data.fixed || scene.preset);
    for (const button of this.find(".examples").children)
      button.setAttribute("aria-pressed", String(button.value === (scene.preset ?? "own")));
    this.find(".away").setAttribute("aria-pressed", String(this.away));
    this.find(".shape").value = scene.points;
    this.find(".noise").value = scene.noise;
    this.find(".tools output").textContent = Number(scene.noise).toFixed(2);
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
    // what a lesson says of a scene comes after its end
    const busy = Boolean(run && (!run.ended || (data.fixed && data.seen !== run.ticket)));
    this.find(".forget").disabled = !scene.forget.length || !scene.methods.length;
    const fresh = run !== null && sameScene(run.scene, scene);
    this.find(".forget").hidden = fresh || data.revision < this.pressed;
    this.find(".again").hidden = !fresh;
    // who presents plays the scene with the key that would go on
    root.toggleAttribute("data-waits", !run && data.revision >= this.pressed && !this.find(".forget").disabled);
    const able = this.methods().length > 0;
    for (const name of [".again", ".play", ".step", ".back", ".time"]) this.find(name).disabled = !able;
    this.find(".play").textContent = this.playing ? "Pause" : "Play";
    this.find(".time").value = Math.round(1000 * this.time);
    this.find(".time").setAttribute("aria-valuetext", percent(this.time));
    root.setAttribute("aria-busy", String(busy || data.revision < this.pressed));
    const status = this.find(".status");
    const sentence = this.statusSentence();
    if (status.textContent !== sentence) status.textContent = sentence; // or it is read aloud each time
    status.classList.toggle("wrong", Boolean(data.problem || run?.error));
  }

  // Only where something changed: who is about to press one of these must not lose it.
  syncMethods() {
    const { data, scene } = this;
    const now = parts({ ...scene, look: data.look }, ["methods", "settings", "look"]);
    if (now === this.drawn) return;
    this.drawn = now;
    this.find(".menu b").textContent = scene.methods.length;
    this.find(".chosen").replaceChildren(
      ...scene.methods.map((id) => {
        const [title, method] = [this.title(id), data.methods.find((one) => one.id === id)];
        const out = element("button", { type: "button", title: "Remove" });
        out.onclick = () => this.takeOut(id);
        out.append(`${title} ×`);
        out.setAttribute("aria-label", `Remove ${title}`);
        out.style.borderLeftColor = method?.color ?? "";
        const changed = this.changes(scene, id) ? ", changed" : "";
        const set = element("button", { type: "button", className: "set", innerHTML: SLIDERS });
        set.title = `Settings${changed}`;
        set.setAttribute("aria-label", `Settings of ${title}${changed}`);
        set.classList.toggle("changed", Boolean(changed));
        set.onclick = () => {
          this.opening = Date.now() + PATIENCE;
          this.ask("settings", { method: id });
        };
        return element("span", { className: "method-chip" }, out, set);
      }),
    );
    const free = data.methods.filter((one) => !scene.methods.includes(one.id));
    this.find(".add").replaceChildren(
      element("option", { value: "", textContent: "Add one" }),
      ...free.map((one) => element("option", { value: one.id, textContent: one.title })),
    );
    this.find(".adding").hidden = scene.methods.length >= MOST_METHODS;
  }

  // Whether a method has settings other than the playground's.
  changes(scene, id) {
    return Object.keys(scene.settings[id] ?? {}).length > 0;
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
      if (!run.ahead) return "Starting …";
      return `${run.ahead === 1 ? "1 scene is" : `${run.ahead} scenes are`} ahead of yours, which then starts on its own.`;
    }
    if (sameScene(run.scene, scene)) return `${this.taught()} ${this.outcome()}`.trim();
    return this.find(".forget").disabled
      ? "Choose points to forget and a method."
      : "Press Forget for the new choice.";
  }

  // What an example teaches; a lesson says that itself.
  taught() {
    const preset = this.data.presets.find((one) => one.id === this.scene.preset);
    return this.data.fixed ? "" : (preset?.sentence ?? "");
  }

  // The method that knows most of what it should have forgotten, or else that ends farthest away.
  outcome() {
    const { models, scene } = this.run;
    const ended = scene.methods.filter((who) => models[who]?.done);
    const most = (of) => ended.reduce((one, other) => (of(other) > of(one) ? other : one), ended[0]);
    const left = most((who) => models[who].done.numbers.fa);
    if (!left || !models.retrain?.done) return "";
    const { fa } = models[left].done.numbers;
    if (fa - models.retrain.done.numbers.fa >= LEFT) {
      const hue = this.hue();
      const rest = hue ? `as ${hue}.` : "correctly.";
      return `${this.title(left)} still classifies ${percent(fa)} of the forgotten points ${rest}`;
    }
    const far = most((who) => models[who].done.difference.mean);
    const said = (who) => percent(models[who].done.difference.mean);
    if (ended.some((who) => who !== far && said(who) === said(far))) return "";
    return `${this.title(far)} differs most from Retrain, by ${said(far)}.`;
  }

  // The colour of the points to forget, where they have one in common.
  hue() {
    const classes = new Set([...(this.run?.forgotten ?? [])].map((at) => this.points[at]?.[2]));
    return classes.size === 1 ? this.data.colours[[...classes][0]] : "";
  }

  cards() {
    const stage = this.find(".stage");
    const wanted = ["original", "retrain", ...(this.run ?? this).scene.methods];
    for (const card of [...stage.children]) if (!wanted.includes(card.dataset.who)) card.remove();
    wanted.forEach((who, at) => {
      if (stage.children[at]?.dataset.who === who) return;
      let card = stage.querySelector(`[data-who="${who}"]`);
      if (!card) {
        const parts = [element("figcaption"), element("canvas"), element("div", { className: "numbers" })];
        parts[1].setAttribute("role", "img");
        card = element("figure", { className: who === "retrain" ? "card retrain" : "card method" }, ...parts);
        card.dataset.who = who;
      }
      stage.insertBefore(card, stage.children[at] ?? null);
    });
    return stage.querySelectorAll(".card");
  }

  paint(again = true) {
    if (!this.scene || !this.root.isConnected) return;
    const cards = this.cards();
    for (const card of cards) this.paintModel(card, card.dataset.who);
    if (this.resize(cards) && again) this.paint(false);
  }

  // Before a room pictures are as large as the height of their place lets them be; whether any is
  // another size now.
  resize(cards) {
    let changed = false;
    for (const card of cards) {
      const canvas = card.querySelector("canvas");
      const others = [...card.children].filter((each) => each !== canvas);
      const left = card.clientHeight - others.reduce((sum, each) => sum + each.offsetHeight, 12);
      const width = this.data.large ? `${Math.max(40, Math.floor(Math.min(card.clientWidth, 0.75 * left)))}px` : "";
      if (canvas.style.width !== width) [canvas.style.width, changed] = [width, true];
    }
    return changed;
  }

  paintModel(card, who) {
    const { run, data } = this;
    const source = this.source(who);
    const canvas = card.querySelector("canvas");
    const first = who === "original";
    const frame = this.frame(who);
    const method = data.methods.find((one) => one.id === who);
    const caption = card.querySelector("figcaption");
    const own = method && run && this.changes(run.scene, who) ? ", own settings" : "";
    const title = this.title(who) + own;
    if (caption.textContent !== title) caption.textContent = title;
    const base = run?.models.retrain?.done ? this.frame("retrain") : null;
    const away = this.away && base && frame && who !== "retrain";
    if (away) paintDifference(canvas, frame.grid, base.grid, source.classes, data.look);
    else if (frame) paintField(canvas, frame.grid, source.classes, data.look);
    else paintGround(canvas, data.look);
    const marked = first || !run ? this.chosen() : run.forgotten;
    paintPoints(canvas, this.points, marked, data.look, { hollow: !first, alone: away });
    if (first && this.path?.length > 1) paintLasso(canvas, this.path, data.look);
    if (first && this.cursor) paintCursor(canvas, this.cursor, data.look);
    const words = this.measures(card.querySelector(".numbers"), who, source?.models[who], frame);
    canvas.setAttribute("aria-label", `${this.title(who)}. ${first ? data.help : ""} ${words}`);
    card.dataset.step = frame ? frame.step : "";
  }

  // The model's numbers as bars, each with Retrain's as a tick; what they say in words.
  measures(place, who, model, frame) {
    if (model?.error) {
      place.replaceChildren(element("span", { className: "words", textContent: model.error }));
      return model.error;
    }
    const last = model?.done && frame === model.frames.at(-1);
    const numbers = { ...((last ? model.done.numbers : frame?.numbers) ?? {}) };
    const goal = this.run?.models.retrain?.done;
    const base = goal ? this.frame("retrain") : null;
    if (base && frame) numbers.away = meanAway(frame.grid, base.grid, this.run.classes);
    const goals = goal ? { ...goal.numbers, away: 0 } : {};
    const shown = this.names().filter(([id]) => numbers[id] != null);
    place.replaceChildren(
      ...shown.map(([id, title]) => {
        const bar = element("i", { className: goals[id] == null ? "" : "goal" });
        bar.style.setProperty("--share", `${100 * numbers[id]}%`);
        bar.style.setProperty("--goal", `${100 * goals[id]}%`);
        bar.style.setProperty("--hue", this.hueOf(who, id, numbers[id] - goals[id]));
        const name = element("span", { textContent: title });
        return element("div", { className: "measure" }, name, element("b", { textContent: percent(numbers[id]) }), bar);
      }),
    );
    return frame ? shown.map(([id, title]) => `${title} ${percent(numbers[id])}`).join(", ") : "Nothing yet.";
  }

  names() {
    const hue = this.hue();
    const named = this.data.meanings.map(({ id, title }) => [id, id === "fa" && hue ? `Forgotten points still ${hue}` : title]);
    return [...named, ["away", "Differs from Retrain"]];
  }

  // References are grey; of a method, amber still remembers and red lost something.
  hueOf(who, id, more) {
    if (who in REFERENCES) return `var(--${who})`;
    if (id === "fa" && more >= LEFT) return "var(--left)";
    return id !== "away" && more <= -LOST ? "var(--lost)" : "var(--primary-fill)";
  }
}

const radio = (properties) => {
  const made = element("button", { type: "button", ...properties });
  made.setAttribute("role", "radio");
  return made;
};

const check = (button, on) => button.setAttribute("aria-checked", String(on));

const DATA = ["points", "noise", "seed", "own"];
const SCENE = [...DATA, "forget", "methods", "settings"];
const parts = (scene, names) => JSON.stringify(names.map((name) => scene[name] ?? null));
const sameData = (one, other) => parts(one, DATA) === parts(other, DATA);
const sameScene = (one, other) => parts(one, SCENE) === parts(other, SCENE);

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".playground");
  const playground = (root.playground ??= new Playground(root));
  playground.take(data, setTriggerValue);
  const deaf = () => {
    window.removeEventListener("keydown", root.key, true);
    window.removeEventListener("click", root.going, true);
  };
  deaf();
  root.key = (event) => playground.key(event);
  root.going = (event) => {
    const link = event.target.closest?.("a[href]");
    const another = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (link && !another && link.pathname !== location.pathname) playground.leaving = Date.now();
  };
  window.addEventListener("keydown", root.key, true);
  window.addEventListener("click", root.going, true);
  return () => {
    deaf();
    playground.leave();
  };
}
