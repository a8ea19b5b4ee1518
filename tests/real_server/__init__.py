"""A walk through the integration with a real llama.cpp; `run` starts it."""
