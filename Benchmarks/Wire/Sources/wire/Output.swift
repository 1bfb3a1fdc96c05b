import BenchmarkSupport
import Foundation

/// The output that `bench.py` reads.
enum Output {
  /// Prints figures, and waits until the reader closes standard input, because it still samples
  /// this process.
  static func finish(_ figures: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    StandardOutput.printLine(String(decoding: try encoder.encode(figures), as: UTF8.self))
    while readLine() != nil {}
  }
}
