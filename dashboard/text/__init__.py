"""Values as people read them: units, labels, titles of presets and verdicts. No Streamlit."""
