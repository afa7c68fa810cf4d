export default function ({ data, parentElement }) {
  parentElement.stop?.(); // Streamlit calls this again for new data without ending the call before
  const drawer = parentElement.getRootNode().host?.closest(".st-key-run_drawer") ?? document.querySelector(".st-key-run_drawer");
  if (!drawer) return;
  drawer.setAttribute("role", "dialog");
  drawer.setAttribute("aria-label", data.title);
  drawer.tabIndex = -1;
  drawer.classList.remove("closing");
  const before = window.mucoreDrawer ?? {};
  if (before.opening !== data.opening || before.shown !== data.shown) {
    const from = drawer.contains(document.activeElement) ? before.from : document.activeElement;
    window.mucoreDrawer = { opening: data.opening, shown: data.shown, from };
    drawer.scrollTop = 0;
    if (data.opening) drawer.focus({ preventScroll: true });
  }
  const button = () => drawer.querySelector(".st-key-close_drawer button");
  const close = (event) => {
    if (event.type === "keydown") {
      const busy = document.querySelector('[data-baseweb="popover"], [role="dialog"][aria-modal="true"]');
      if (event.key !== "Escape" || event.defaultPrevented || busy) return;
      button()?.click();
    } else if (event.composedPath().includes(button())) {
      drawer.classList.add("closing");
      window.mucoreDrawer?.from?.focus?.({ preventScroll: true });
    }
  };
  document.addEventListener("keydown", close);
  drawer.addEventListener("click", close);
  return (parentElement.stop = () => {
    document.removeEventListener("keydown", close);
    drawer.removeEventListener("click", close);
  });
}
