/// What came back is not what it should be, so that it must not be measured.
struct WrongPicture: Error, CustomStringConvertible {
  var description: String { "A frame came back with other pixels than it was sent with." }
}
