"""What curators do with pairs: check them, import them."""
