/// A length-delimited field of a protobuf message, by where it stands.
struct WireField: Sendable, Hashable {
  /// The field's number.
  var number: Int
  /// The offset of its tag.
  var start: Int
  /// The offsets of its content.
  var payload: Range<Int>
}
