import SidelightCodecs
import Testing

@Suite struct `The format of a still image` {
  @Test(
    arguments: [
      ("a.png", .png), ("b.JPG", .jpeg), ("dir.png/c.jpeg", .jpeg), ("d.gif", nil), ("png", nil),
      ("", nil), ("e.", nil),
    ] as [(String, ImageFileFormat?)])
  func `is recognized by the file's extension`(name: String, format: ImageFileFormat?) {
    #expect(ImageFileFormat(fileName: name) == format)
  }

  @Test(
    arguments: [
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A], nil),
      ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg),
      ([0xFF, 0xD8], nil), ([], nil), (Array("GIF89a..".utf8), nil),
    ] as [([UInt8], ImageFileFormat?)])
  func `is recognized by the file's first bytes`(bytes: [UInt8], format: ImageFileFormat?) {
    #expect(ImageFileFormat(sniffing: bytes.span.bytes) == format)
  }
}
