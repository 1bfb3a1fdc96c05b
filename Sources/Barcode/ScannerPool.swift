import Synchronization

/// Scanners that sessions share: as many as were in use at the same time.
final class ScannerPool: Sendable {
  private let idle: Mutex<[BarcodeScanner]>

  /// Creates a pool with one scanner.
  ///
  /// - Throws: ``BarcodeError`` if libzbar cannot be used.
  init() throws(BarcodeError) {
    self.idle = Mutex([try BarcodeScanner()])
  }

  /// Lends a scanner.
  ///
  /// - Throws: ``BarcodeError`` of the body, or if another scanner cannot be created.
  func withScanner<Result>(
    _ body: (BarcodeScanner) throws(BarcodeError) -> Result
  ) throws(BarcodeError) -> Result {
    let lent = self.idle.withLock { $0.popLast() }
    let scanner = if let lent { lent } else { try BarcodeScanner() }
    defer { self.idle.withLock { $0.append(scanner) } }
    return try body(scanner)
  }
}
