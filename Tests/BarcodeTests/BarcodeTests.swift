import SidelightBarcode
import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Results of `barcode`, on codes that the tests draw.
@Suite struct `Barcodes and QR codes` {
  /// The modules of a QR code of version 1 and level M that says "SIDELIGHT 42".
  static let modules = """
    #######.##.#..#######
    #.....#...#...#.....#
    #.###.#.#...#.#.###.#
    #.###.#..#..#.#.###.#
    #.###.#...###.#.###.#
    #.....#.##.##.#.....#
    #######.#.#.#.#######
    .........##.#........
    #.#...##.##....#..#.#
    ..###..##.##.#.#.#..#
    #####.##.#.###.####..
    #...##..#..#.###..###
    ...####....####..#...
    ........#......####..
    #######.###..#####..#
    #.....#..##.#..#.##.#
    #.###.#..#...##.....#
    #.###.#..###.##......
    #.###.#.##.###.######
    #.....#..###.######.#
    #######.#.#####.#.###
    """.split(separator: "\n").map { line in line.map { $0 == "#" } }

  /// The seven modules of the digits on the left side of an EAN-13 code, odd parity.
  static let digits = [
    "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011",
    "0110111", "0001011",
  ]
  /// The parity of the left digits by the first digit: `L` odd, `G` even.
  static let parities = [
    "LLLLLL", "LLGLGG", "LLGGLG", "LLGGGL", "LGLLGG", "LGGLLG", "LGGGLL", "LGLGLG", "LGLGGL",
    "LGGLGL",
  ]

  /// The modules of an EAN-13 code (GS1 General Specifications, section 5.2); true is dark.
  static func ean13(_ code: String) -> [Bool] {
    let numbers = code.compactMap(\.wholeNumberValue)
    func inverted(_ modules: String) -> String {
      String(modules.map { $0 == "0" ? "1" : "0" })
    }
    let left = zip(numbers[1 ... 6], Self.parities[numbers[0]]).map { digit, parity in
      parity == "L" ? Self.digits[digit] : String(inverted(Self.digits[digit]).reversed())
    }
    let right = numbers[7 ... 12].map { inverted(Self.digits[$0]) }
    return ("101" + left.joined() + "01010" + right.joined() + "101").map { $0 == "1" }
  }

  static let size = FrameSize(width: 480, height: 270)

  /// Returns a frame of light grey with dark parts.
  static func frame(
    _ format: PixelFormat, _ isDark: (_ x: Int, _ y: Int) -> Bool
  ) throws -> Frame {
    let layout = try FrameLayout(aligned: format, size: Self.size)
    var frame = BufferPool().makeFrame(layout: layout, color: ColorDescription())
    for shape in PlaneShape.planes(format, Self.size) {
      for y in 0 ..< shape.height {
        frame.withMutableRow(y, plane: shape.plane) { row in
          for index in 0 ..< shape.samples {
            let value: UInt8 =
              shape.plane > 0 ? 128 : isDark(index / shape.step, y) ? 30 : 200
            row.storeBytes(of: value, toByteOffset: index, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }

  /// Returns a frame with the QR code at (300, 80), in modules of 6 pixels, and the EAN-13 code
  /// 4006381333931 at (30, 100), in modules of 2 pixels.
  static func codes(_ format: PixelFormat) throws -> Frame {
    let bars = Self.ean13("4006381333931")
    return try Self.frame(format) { x, y in
      if (100 ..< 180).contains(y), x >= 30, (x - 30) / 2 < bars.count { return bars[(x - 30) / 2] }
      let (column, row) = ((x - 300) / 6, (y - 80) / 6)
      guard x >= 300, y >= 80, column < 21, row < 21 else { return false }
      return Self.modules[row][column]
    }
  }

  static func analyze(_ frame: Frame) async throws -> [String: AnalysisValue] {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerBarcodes()
    let geometry = FrameGeometry(format: frame.format, size: frame.size, color: frame.color)
    let plan = try catalogue.resolve([.filter("barcode")]).plan(for: geometry)
    var analyzer = try #require(plan.analyses.first).analysis.makeAnalyzer()
    return try await analyzer.analyze(frame, at: FrameTime())
  }

  @Test(arguments: PixelFormat.allCases)
  func `codes are read with their text and place, from left to right`(
    _ format: PixelFormat
  ) async throws {
    let found = try await Self.analyze(try Self.codes(format))
    #expect(found["codes"] == .number(2))
    #expect(found["kind0"] == .text("EAN-13") && found["text0"] == .text("4006381333931"))
    #expect(found["kind1"] == .text("QR-Code") && found["text1"] == .text("SIDELIGHT 42"))
    guard case .list(let regions) = found["code"], case .region(let box, _, _) = regions.last,
      case .vector(let corners) = found["corners1"]
    else { throw Missing() }
    // The code covers 300 ... 426 and 80 ... 206.
    #expect(abs(box.origin.x.value - 300) <= 6 && abs(box.origin.y.value - 80) <= 6)
    #expect(abs(box.width.value - 126) <= 12 && abs(box.height.value - 126) <= 12)
    #expect(corners.count == 8)
  }

  @Test func `a frame without codes has none`() async throws {
    let found = try await Self.analyze(try Self.frame(.i420) { x, y in x > y })
    #expect(found["codes"] == .number(0) && found["code"] == .list([]) && found["text0"] == nil)
  }

  @Test func `frames are not changed`() async throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerBarcodes()
    let geometry = FrameGeometry(format: .bgra8, size: Self.size)
    #expect(try catalogue.resolve([.filter("barcode")]).plan(for: geometry).isIdentity)
  }

  @Test func `sessions scan at the same time`() async throws {
    let frame = try Self.codes(.i420)
    try await withThrowingTaskGroup(of: [String: AnalysisValue].self) { group in
      for _ in 0 ..< 8 { group.addTask { try await Self.analyze(frame) } }
      for try await found in group { #expect(found["codes"] == .number(2)) }
    }
  }

  struct Missing: Error {}
}
