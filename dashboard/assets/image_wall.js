export default function ({ data, parentElement, setTriggerValue }) {
  const wall = parentElement.querySelector(".wall");
  const waiting = (wall.waiting ??= new Set());
  for (const [name, color] of Object.entries(data.colors)) wall.style.setProperty(`--${name}`, color);
  wall.setAttribute("aria-label", data.label);
  const { url, across, down } = data.sheet;
  const show = (button, pressed) => button.setAttribute("aria-pressed", String(pressed));
  const place = (number, of) => (of > 1 ? `${(100 * number) / (of - 1)}%` : "0%");
  wall.replaceChildren(
    ...data.cells.map(({ id, text, chosen }, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = text;
      button.setAttribute("aria-label", text);
      button.dataset.sample = id;
      button.style.backgroundImage = `url(${url})`;
      button.style.backgroundSize = `${100 * across}% ${100 * down}%`;
      button.style.backgroundPosition = `${place(number % across, across)} ${place(Math.floor(number / across), down)}`;
      show(button, chosen !== waiting.has(id));
      button.onclick = () => {
        if (!waiting.delete(id)) waiting.add(id);
        show(button, chosen !== waiting.has(id));
        clearTimeout(wall.timer);
        wall.timer = setTimeout(() => {
          const clicked = [...waiting];
          waiting.clear();
          if (clicked.length) setTriggerValue("clicked", clicked);
        }, 450);
      };
      return button;
    }),
  );
}
