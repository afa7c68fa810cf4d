"""Parts of the playground's page."""
