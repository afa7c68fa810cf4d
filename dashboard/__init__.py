"""The Streamlit application: reads the store, asks for runs, computes nothing. No module here
imports torch.
"""
