"""What the page of drawings computes: an image of the data set's kind from ink, what networks say
of it, and which training images they find alike. numpy in, small records out; no Streamlit, no
torch.
"""
