/// The forms of settings' values, by name.
enum Format {}
