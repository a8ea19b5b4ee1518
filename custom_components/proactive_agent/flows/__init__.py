"""What both dialogs ask for, and how they check it."""
