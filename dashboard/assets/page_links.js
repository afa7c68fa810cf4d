export default function ({ parentElement }) {
  parentElement.stop?.(); // Streamlit calls this again for another theme without ending the call before
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
  return (parentElement.stop = () => document.removeEventListener("click", go, true));
}
