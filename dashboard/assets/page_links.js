export default function () {
  const go = (event) => {
    const from = event.target.closest?.('[data-testid="stSidebarNavLink"]');
    if (!from || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const links = [...document.querySelectorAll(".st-key-along a")];
    const to = links.find((link) => link.pathname === from.pathname);
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    to.click();
  };
  document.addEventListener("click", go, true);
  return () => document.removeEventListener("click", go, true);
}
