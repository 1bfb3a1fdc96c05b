/// Makes encodings that protobuf allows and no encoder writes, and such as it does not allow:
/// fields in any order, more than once, unknown, in groups; numbers longer than they need be;
/// messages cut off.
struct AdversarialEncoding<Random: RandomNumberGenerator> {
  var random: Random

  /// An encoding of a `ClientMessage`, more or less.
  mutating func clientMessage() -> [UInt8] {
    self.broken(
      self.message(fields: Int.random(in: 0 ... 3, using: &self.random)) { encoding in
        switch Int.random(in: 0 ..< 8, using: &encoding.random) {
        case 0 ..< 5: encoding.delimited(1, encoding.frame())
        case 5: encoding.delimited(22, encoding.number(1))  // ping
        case 6: encoding.delimited(16, encoding.delimited(2, [0x61]))  // open, label
        default: encoding.stray()
        }
      })
  }

  private mutating func frame() -> [UInt8] {
    self.message(fields: Int.random(in: 1 ... 5, using: &self.random)) { encoding in
      switch Int.random(in: 0 ..< 8, using: &encoding.random) {
      case 0 ..< 4: encoding.delimited(2, encoding.image())
      case 4: encoding.number(1)  // sequence
      case 5: encoding.delimited(9, encoding.delimited(1, [0x6B]) + encoding.delimited(2, [0x76]))
      case 6: encoding.number(5)  // budget_us
      default: encoding.stray()
      }
    }
  }

  private mutating func image() -> [UInt8] {
    self.message(fields: Int.random(in: 1 ... 5, using: &self.random)) { encoding in
      switch Int.random(in: 0 ..< 8, using: &encoding.random) {
      case 0 ..< 4: encoding.delimited(15, encoding.bytes())
      case 4: encoding.delimited(14, encoding.number(1) + encoding.number(2))  // shared memory
      case 5: encoding.delimited(4, encoding.number(2))  // a plane
      case 6: encoding.number(Int.random(in: 1 ... 3, using: &encoding.random))
      default: encoding.stray()
      }
    }
  }

  private mutating func message(
    fields count: Int, _ field: (inout AdversarialEncoding) -> [UInt8]
  ) -> [UInt8] {
    (0 ..< count).reduce(into: []) { bytes, _ in bytes += field(&self) }
  }

  private mutating func bytes() -> [UInt8] {
    let count = Int.random(
      in: 0 ... (Bool.random(using: &self.random) ? 4 : 300), using: &self.random)
    return (0 ..< count).map { _ in UInt8.random(in: 0 ... 255, using: &self.random) }
  }

  /// A field unknown to the contract, or a known one in a form that it does not have.
  private mutating func stray() -> [UInt8] {
    let number = [1, 2, 14, 15, 77, 5000, 0x1FFF_FFFF].randomElement(using: &self.random) ?? 77
    switch Int.random(in: 0 ..< 24, using: &self.random) {
    case 0 ..< 4: return self.number(77)
    case 4: return self.number(number)
    case 5 ..< 9: return self.tag(78, 1) + [1, 2, 3, 4, 5, 6, 7, 8]
    case 9: return self.tag(number, 1) + [1, 2, 3, 4, 5, 6, 7, 8]
    case 10 ..< 14: return self.tag(number, 5) + [1, 2, 3, 4]
    case 14 ..< 18: return self.tag(79, 3) + self.number(3) + self.tag(79, 4)
    case 18: return self.tag(number, Int.random(in: 6 ... 7, using: &self.random))
    default: return self.delimited(number, self.bytes())
    }
  }

  private mutating func delimited(_ number: Int, _ content: [UInt8]) -> [UInt8] {
    self.tag(number, 2) + self.varint(UInt64(content.count)) + content
  }

  private mutating func number(_ number: Int) -> [UInt8] {
    self.tag(number, 0) + self.varint(UInt64.random(in: 0 ... 1 << 40, using: &self.random))
  }

  private mutating func tag(_ number: Int, _ wireType: Int) -> [UInt8] {
    self.varint(UInt64(number) << 3 | UInt64(wireType))
  }

  /// A number, sometimes with more bytes than it needs.
  private mutating func varint(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    repeat {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    } while rest > 0
    if Int.random(in: 0 ..< 12, using: &self.random) == 0 {
      let padding = [1, 2, 3, 3, 9].randomElement(using: &self.random) ?? 1
      bytes += [UInt8](repeating: 0x80, count: padding)
    }
    bytes[bytes.count - 1] &= 0x7F
    return bytes
  }

  /// The encoding, sometimes cut off or with a wrong byte.
  private mutating func broken(_ bytes: [UInt8]) -> [UInt8] {
    guard !bytes.isEmpty else { return bytes }
    switch Int.random(in: 0 ..< 10, using: &self.random) {
    case 0: return [UInt8](bytes.prefix(Int.random(in: 0 ..< bytes.count, using: &self.random)))
    case 1:
      var bytes = bytes
      bytes[Int.random(in: 0 ..< bytes.count, using: &self.random)] ^=
        1 << UInt8.random(in: 0 ..< 8, using: &self.random)
      return bytes
    default: return bytes
    }
  }
}
