"""What pages share and draw with, a subject a file: heads, figures, forms, filters, the drawer."""
