"""The ordinary lines of programs: what ranks say of themselves and their work while nothing is wrong."""
