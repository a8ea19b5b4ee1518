"""A server that speaks like OpenAI's: transport, tries and errors."""
