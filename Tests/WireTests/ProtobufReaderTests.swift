import SidelightProtobuf
import Testing

struct ProtobufReaderTests {
  private typealias Reader = ProtobufReader<[UInt8]>

  private static func fields(_ bytes: [UInt8], in range: Range<Int>? = nil) throws -> [Reader.Field]
  {
    var reader = ProtobufReader(bytes, in: range)
    var fields: [Reader.Field] = []
    while let field = try reader.next() { fields.append(field) }
    return fields
  }

  @Test func `fields of all types are read with their numbers and offsets`() throws {
    let bytes: [UInt8] =
      [0x08, 0x96, 0x01] + [0x11] + Array(repeating: 1, count: 8) + [0x1A, 2, 7, 8]
      + [0x25, 1, 2, 3, 4] + [0xFA, 0xFF, 0xFF, 0xFF, 0x0F, 0]
    let fields = try Self.fields(bytes)
    #expect(fields.map(\.number) == [1, 2, 3, 4, 0x1FFF_FFFF])
    #expect(fields.map(\.start) == [0, 3, 12, 16, 21])
    #expect(
      fields.map(\.value) == [
        .number(150), .fixed(4 ..< 12), .bytes(14 ..< 16), .fixed(17 ..< 21), .bytes(27 ..< 27),
      ])
  }

  @Test func `a range is read as a message, and a packed list as numbers`() throws {
    let bytes: [UInt8] = [0xFF, 0x08, 1, 0xFF]
    #expect(try Self.fields(bytes, in: 1 ..< 3).map(\.value) == [.number(1)])
    var list = ProtobufReader([0x96, 0x01, 3] as [UInt8])
    #expect(try list.nextNumber() == 150)
    #expect(try list.nextNumber() == 3)
    #expect(try list.nextNumber() == nil)
  }

  @Test(arguments: [
    ([0x08], 1),  // no value
    ([0x08, 0x80], 1),  // a number without its end
    ([0x08] + Array(repeating: 0xFF, count: 9) + [2], 1),  // more than 64 bits
    ([0x08] + Array(repeating: 0x80, count: 10) + [1], 1),  // 11 bytes
    ([0x0A, 2, 0], 2),  // shorter than its length
    ([0x0A] + Array(repeating: 0xFF, count: 9) + [1], 11),  // a length of 64 bits
    ([0x0D, 0, 0, 0], 1),
    ([0x09, 0], 1),
    ([0x00, 0], 0),  // field 0
    ([0x88, 0x80, 0x80, 0x80, 0x80, 0x00, 0], 0),  // a tag of six bytes
    ([0x80, 0x80, 0x80, 0x80, 0x10, 0], 0),  // a number of a field beyond the largest
    ([0x0B, 0x0C], 0),  // a group
    ([0x0E], 0),  // an unknown type
  ])
  func `malformed bytes are an error at their offset`(_ bytes: [UInt8], _ offset: Int) {
    let error = #expect(throws: ProtobufError.self) { try Self.fields(bytes) }
    #expect(error?.offset == offset)
  }
}
