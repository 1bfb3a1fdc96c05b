import Foundation

/// What `bench.py` reads.
enum Output {
  /// Says a line now: whoever reads looks at this process's figures when it comes.
  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }

  /// Says figures, and waits until the reader has closed our input: it may still look at this process.
  static func finish(_ figures: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    Self.say(String(decoding: try encoder.encode(figures), as: UTF8.self))
    while readLine() != nil {}
  }
}

extension [Duration] {
  /// The value that so many percent do not exceed, in microseconds; zero if there is none.
  func percentile(_ percent: Double) -> Double {
    guard !self.isEmpty else { return 0 }
    let rank = Int((percent / 100 * Double(self.count)).rounded(.up))
    return self.sorted()[Swift.min(Swift.max(0, rank - 1), self.count - 1)] / .microseconds(1)
  }
}
