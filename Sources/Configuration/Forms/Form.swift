/// The forms that settings' values have, by name.
enum Form {}
