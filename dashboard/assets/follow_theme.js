export default function ({ parentElement, setTriggerValue }) {
  parentElement.stop?.(); // Streamlit calls this again for another theme without ending the call before
  const scheme = () => getComputedStyle(document.querySelector('[data-testid="stApp"]')).colorScheme;
  let seen = scheme();
  const look = () => {
    const now = scheme();
    if (now === seen) return;
    seen = now;
    setTriggerValue("theme", now);
  };
  const timer = setInterval(look, 400);
  return (parentElement.stop = () => clearInterval(timer));
}
