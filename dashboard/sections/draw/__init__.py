"""Parts of the page where a reader draws and networks answer."""
