"""Files that run nothing when they are read: a JSON manifest beside one safetensors file."""
