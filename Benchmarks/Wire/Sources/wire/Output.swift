import BenchmarkSupport
import Foundation

/// What `bench.py` reads.
enum Output {
  /// Says figures, and waits until the reader has closed our input: it may still look at this process.
  static func finish(_ figures: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    StandardOutput.printLine(String(decoding: try encoder.encode(figures), as: UTF8.self))
    while readLine() != nil {}
  }
}
