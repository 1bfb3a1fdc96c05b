/// A frame returned with wrong pixels, so the measurement is invalid.
struct WrongPicture: Error, CustomStringConvertible {
  var description: String { "A frame came back with other pixels than it was sent with." }
}
