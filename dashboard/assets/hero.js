// The living picture of Start: Retrain learns without a class while Fine-tune forgets it, in a loop.

const LOOP = 4000; // milliseconds
const PAUSE = 40; // milliseconds from one picture to the next, at least
const MOVING = 0.75; // share of the loop after which the end is held

const unpacked = async (text) => {
  const packed = new Blob([unpack(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const content = await new Response(packed).json();
  for (const frames of Object.values(content.models))
    for (const frame of frames) frame.grid = unpack(frame.grid);
  return content;
};

// The field between two frames: probabilities change evenly from one to the next.
const between = (frames, share) => {
  const next = frames.findIndex((frame) => frame.share >= share);
  if (next <= 0) return next ? frames.at(-1) : frames[0];
  const [from, to] = [frames[next - 1], frames[next]];
  const part = (share - from.share) / (to.share - from.share);
  const mix = (one, other) => one + part * (other - one);
  return { grid: from.grid.map((value, at) => mix(value, to.grid[at])), left: from.left };
};

class Hero {
  constructor(root) {
    this.root = root;
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.playing = !this.still.matches;
    this.passed = 0;
    this.button = root.querySelector("button");
    this.button.onclick = () => this.toggle();
    new ResizeObserver(() => this.paint()).observe(root);
  }

  async take({ played, look }) {
    this.look = look;
    this.root.style.setProperty("--muted", look.muted);
    this.content ??= await unpacked(played);
    this.forgotten = new Set(this.content.forget);
    this.button.textContent = this.playing ? "Pause" : "Play";
    this.paint();
    this.run();
  }

  toggle() {
    this.playing = !this.playing;
    this.button.textContent = this.playing ? "Pause" : "Play";
    this.run();
  }

  run() {
    if (this.waiting || !this.playing) return;
    this.last = null;
    const tick = (now) => {
      this.waiting = null;
      if (!this.playing || !this.root.isConnected) return;
      if (this.last === null || now - this.last >= PAUSE) {
        this.passed = (this.passed + (this.last === null ? 0 : now - this.last)) % LOOP;
        this.last = now;
        this.paint();
      }
      this.waiting = requestAnimationFrame(tick);
    };
    this.waiting = requestAnimationFrame(tick);
  }

  // How much of the forgetting is done: all of it where nothing moves by itself.
  share() {
    if (!this.playing && !this.passed) return 1;
    return Math.min(1, this.passed / (MOVING * LOOP));
  }

  paint() {
    if (!this.content || !this.root.isConnected) return;
    const { points, models, classes, hue, work } = this.content;
    const share = this.share();
    for (const card of this.root.querySelectorAll("figure")) {
      const { who } = card.dataset;
      const frame = between(models[who], who === "original" ? 1 : share);
      const canvas = card.querySelector("canvas");
      paintField(canvas, frame.grid, classes, this.look);
      paintPoints(canvas, points, who === "original" ? new Set() : this.forgotten, this.look);
      const said = {
        original: `learned ${classes} classes`,
        retrain: `never saw ${hue}`,
        finetune: `${Math.round(100 * work * share)} % of the steps, ${Math.round(100 * frame.left)} % ${hue}`,
      };
      const note = card.querySelector("span");
      if (note.textContent !== said[who]) note.textContent = said[who];
    }
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".hero");
  root.hero ??= new Hero(root);
  root.hero.take(data);
}
