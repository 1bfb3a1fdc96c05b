public import SidelightKernels

/// Scanners that sessions share.
typealias ScannerPool = InstancePool<BarcodeScanner, BarcodeError>

/// An analysis that reads barcodes and QR codes.
struct Barcode: Filter {
  var description: FilterDescription { Self.description }

  static let description = FilterDescription(
    name: "barcode",
    summary: "Reads QR codes and barcodes. Does not change frames.",
    category: .analysis, reach: .frame, fidelity: .formula,
    keywords: "scan code",
    formula: """
      libzbar reads the luma of the frame in full size: QR codes, EAN-13, EAN-8, UPC-A, UPC-E, Code \
      128, Code 93, Code 39, Codabar and Interleaved 2 of 5. codes: their number, at most 8. For \
      code i, from left to right: kind{i}, the symbology; text{i}, at most 1,024 bytes; corners{i}, \
      x and y of points on its edge in pixels, the four corners of a QR code. code (regions): the \
      bounding boxes, in the same order. Needs libzbar0
      """,
    parameters: [
      ParameterDescription(
        "everyNth", .number, default: .number(5), slider: 1 ... 30, limits: 1 ... 100_000,
        "The interval in frames: 5 analyses every fifth frame.")
    ])

  /// The maximum number of codes reported per frame.
  private static let maxCodes = 8

  private let everyNth: Int
  private let scanners: ScannerPool

  init(_ arguments: Arguments, scanners: ScannerPool) {
    self.everyNth = Int(arguments.number("everyNth").rounded())
    self.scanners = scanners
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.analysis(Analysis(everyNth: self.everyNth, scanners: self.scanners))]
  }

  private struct Analysis: FrameAnalysis {
    let everyNth: Int
    let scanners: ScannerPool

    func analyze(_ frame: Frame, at time: FrameTime) throws -> [String: AnalysisValue] {
      let levels = LumaLevels(frame)
      let codes = try self.scanners.withInstance { scanner throws(BarcodeError) in
        try scanner.codes(in: levels)
      }
      return Barcode.results(codes)
    }
  }

  private static func results(_ codes: [ScannedCode]) -> [String: AnalysisValue] {
    let sorted = codes.sorted { ($0.left, $0.text) < ($1.left, $1.text) }.prefix(Self.maxCodes)
    var found: [String: AnalysisValue] = [
      "codes": .number(Double(sorted.count)),
      "code": .list(sorted.map { .region($0.boundingBox, confidence: 1, id: 0) }),
    ]
    for (index, code) in sorted.enumerated() {
      found["kind\(index)"] = .text(code.kind)
      found["text\(index)"] = .text(code.text)
      found["corners\(index)"] = .vector(code.corners)
    }
    return found
  }
}

extension ScannedCode {
  fileprivate var left: Double { self.boundingBox.origin.x.value }

  /// The smallest rectangle around the corners; empty without corners.
  fileprivate var boundingBox: Region {
    let xs = stride(from: 0, to: self.corners.count, by: 2).map { self.corners[$0] }
    let ys = stride(from: 1, to: self.corners.count, by: 2).map { self.corners[$0] }
    let (left, top) = (xs.min() ?? 0, ys.min() ?? 0)
    return Region(
      origin: FramePoint(x: Length(left), y: Length(top)),
      width: Length((xs.max() ?? 0) - left), height: Length((ys.max() ?? 0) - top))
  }
}

extension FilterCatalogue {
  /// Adds the filter `barcode`, which needs libzbar, and the filters that draw codes, which need
  /// libzint. Without its library, a filter is added as unavailable, and a pipeline that names it is
  /// refused with the reason.
  public mutating func registerBarcodes() {
    self.registerBarcodeGenerators()
    do throws(BarcodeError) {
      let scanners = ScannerPool { () throws(BarcodeError) in try BarcodeScanner() }
      try scanners.prepare()
      self.register(Barcode.description) { Barcode($0, scanners: scanners) }
    } catch {
      self.register(unavailable: Barcode.description, reason: error.description)
    }
  }
}
