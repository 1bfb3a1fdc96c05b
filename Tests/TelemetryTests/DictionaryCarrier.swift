import Tracing

/// Propagates a context in a dictionary.
struct DictionaryCarrier: Extractor, Injector {
  func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }

  func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
    carrier[key] = value
  }
}
