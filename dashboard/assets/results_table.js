export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".frame");
  const held = parentElement.activeElement || null;
  const focus = ["row", "sort"].filter((name) => held?.dataset[name]).map((name) => `[data-${name}="${held.dataset[name]}"]`)[0];
  frame.innerHTML = data.html;
  if (focus) frame.querySelector(focus)?.focus({ preventScroll: true });
  const act = (target) => {
    const head = target.closest("[data-sort]");
    const row = target.closest("tr[data-row]");
    if (head) setTriggerValue("sort", head.dataset.sort);
    else if (row) setTriggerValue("row", row.dataset.row);
  };
  frame.onclick = (event) => act(event.target);
  frame.onkeydown = (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches("tr[data-row]")) { event.preventDefault(); act(event.target); }
  };
}
