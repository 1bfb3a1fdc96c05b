import Yams

/// A YAML file of settings: sections, keys, scalars, lists of scalars, and for some settings lists
/// of mappings.
///
/// Other YAML is not supported. Anchors and aliases are refused, since they allow files that grow
/// when they are read, and so are duplicate keys.
struct FileSource {
  private var values: [String: [String]] = [:]
  private(set) var errors: [SettingError] = []
  private(set) var warnings: [String] = []
  private var lines: [String: Int] = [:]
  let path: String

  /// Reads a file. Its errors are in ``errors``.
  init(path: String) {
    self.path = path
    do throws(TextFileError) {
      self.read(try TextFile.contents(of: path))
    } catch {
      self.errors.append(SettingError("\(path) \(error.reason)"))
    }
  }

  var layer: SettingLayer {
    SettingLayer(values: self.values) { [path, lines] setting in
      .file(path: path, line: lines[setting.key] ?? 0)
    }
  }

  private mutating func read(_ text: String) {
    // Before parsing: a key that is an alias takes exponential time.
    if let line = Self.lineOfAlias(in: text) {
      return self.addError(
        line, "anchors and aliases (&, *) are not supported; quote the text if it is neither")
    }
    do {
      let parser = try Parser(yaml: text, encoding: .utf8)
      guard let root = try parser.singleRoot() else { return }
      switch root {
      case .mapping(let mapping): self.read(mapping, in: nil)
      case .scalar(let scalar) where Self.isNull(scalar): break
      default: self.addError(root.mark?.line, "expected settings: KEY: VALUE")
      }
    } catch let error as YamlError {
      self.addError(error)
    } catch {
      self.addError(nil, "cannot be parsed as YAML")
    }
  }

  private mutating func read(_ mapping: Yams.Node.Mapping, in section: String?) {
    for (name, value) in mapping {
      guard let name = name.scalar else {
        self.addError(name.mark?.line, "expected a scalar as key")
        continue
      }
      let key = (section.map { "\($0)." } ?? "") + name.string
      let line = name.mark?.line ?? 0
      if let setting = SettingTable.setting(key) {
        if key != setting.key {
          self.warnings.append("\(self.path):\(line): \(key) is now \(setting.key)")
        }
        self.read(value, of: setting, line)
      } else if let removed = SettingTable.removedSetting(key) {
        self.addError(line, SettingError(removed, named: key).description)
      } else if SettingTable.isSection(key) {
        switch value {
        case .mapping(let mapping): self.read(mapping, in: key)
        case .scalar(let scalar) where Self.isNull(scalar): break
        default: self.addError(line, "\(key) is a section; indent its settings below it")
        }
      } else {
        let nearest =
          value.mapping == nil
          ? SettingTable.nearestKey(to: key) : SettingTable.nearestSection(to: key)
        let error = SettingError(unknown: key.quotedWhereNeeded, nearest: nearest)
        self.addError(line, error.description)
      }
    }
  }

  private mutating func read(_ value: Yams.Node, of setting: Setting, _ line: Int) {
    guard self.values[setting.key] == nil else {
      return self.addError(line, "\(setting.key) is set twice")
    }
    let texts: [String]
    switch value {
    case .scalar(let scalar) where Self.isNull(scalar):
      return self.addError(line, "\(setting.key) has no value")
    case .scalar(let scalar): texts = [scalar.string]
    case .sequence(let sequence) where setting.kind.isList && sequence.allSatisfy(\.isScalar):
      texts = sequence.compactMap(\.scalar?.string)
    case .sequence(let sequence) where setting.kind.isList:
      guard let mapping = setting.mapping else {
        return self.addError(line, "\(setting.key) is not a list of scalars")
      }
      let elements = sequence.enumerated().map { index, element in
        self.text(of: element, "\(setting.key)[\(index)]", mapping)
      }
      texts = elements.compactMap(\.self)
      guard texts.count == elements.count else { return }
    case .sequence: return self.addError(line, "\(setting.key) is a list; expected one value")
    default: return self.addError(line, "\(setting.key) is a section; expected a value")
    }
    self.values[setting.key] = texts
    self.lines[setting.key] = line
  }

  /// Returns the text of a list's element, which may be a mapping. `nil` after an error.
  private mutating func text(
    of element: Yams.Node, _ name: String, _ mapping: SettingMapping
  ) -> String? {
    if let scalar = element.scalar { return scalar.string }
    let line = element.mark?.line
    guard let fields = element.mapping else {
      self.addError(line, "\(name) is a list; expected \(mapping.fields.joined(separator: ", "))")
      return nil
    }
    var values: [String: [String]] = [:]
    var isValid = true
    for (key, value) in fields {
      let field = key.scalar?.string ?? ""
      let line = key.mark?.line ?? line
      if !mapping.fields.contains(field) {
        let nearest = Spelling.nearest(to: field, among: mapping.fields)
        let shown = "\(name).\(field)".quotedWhereNeeded
        self.addError(line, SettingError(unknown: shown, nearest: nearest).description)
        isValid = false
      } else if let scalar = value.scalar, !Self.isNull(scalar) {
        values[field] = [scalar.string]
      } else if mapping.listFields.contains(field), let list = Self.elements(of: value) {
        values[field] = list
      } else if mapping.mapFields.contains(field), let entries = Self.entries(of: value) {
        values[field] = entries
      } else {
        let expected = mapping.listFields.contains(field) ? "a list of scalars" : "a scalar"
        let reason = value.scalar == nil ? "is not \(expected)" : "has no value"
        self.addError(line, "\(name).\(field) \(reason)")
        isValid = false
      }
    }
    guard isValid else { return nil }
    do throws(InvalidSettingValue) {
      return try mapping.text(values)
    } catch {
      self.addError(line, "\(name): \(error.reason)")
      return nil
    }
  }

  /// Returns the elements of a list of scalars. `nil` for any other node.
  private static func elements(of node: Yams.Node) -> [String]? {
    guard case .sequence(let sequence) = node else { return nil }
    let texts = sequence.compactMap { Self.text($0) }
    return texts.count == sequence.count ? texts : nil
  }

  /// Returns the entries of a mapping of names to scalars as `NAME:SCALAR`. `nil` for any other
  /// node.
  private static func entries(of node: Yams.Node) -> [String]? {
    guard case .mapping(let mapping) = node else { return nil }
    let texts = mapping.compactMap { key, value -> String? in
      guard let key = Self.text(key), let value = Self.text(value) else { return nil }
      return "\(key):\(value)"
    }
    return texts.count == mapping.count ? texts : nil
  }

  private static func text(_ node: Yams.Node) -> String? {
    node.scalar.flatMap { Self.isNull($0) ? nil : $0.string }
  }

  private mutating func addError(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      self.addError(mark.line, "invalid YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      let keys = keys.map(\.quotedWhereNeeded).joined(separator: ", ")
      self.addError(context.mark.line, "duplicate keys in one section: \(keys)")
    case .reader(let problem, _, _, _): self.addError(nil, "invalid YAML: \(problem)")
    default: self.addError(nil, "cannot be parsed as YAML")
    }
  }

  private mutating func addError(_ line: Int?, _ reason: String) {
    let location = line.map { "\(self.path):\($0)" } ?? self.path
    self.errors.append(SettingError("\(location): \(reason)"))
  }

  /// Returns whether a scalar is empty or `null`.
  private static func isNull(_ scalar: Yams.Node.Scalar) -> Bool {
    scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// Returns the first line with `&name` or `*name` where a value may begin, outside quotation
  /// marks and comments.
  private static func lineOfAlias(in text: String) -> Int? {
    // Most files don't use anchors.
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "*") }) else {
      return nil
    }
    return text.split(separator: /\r\n|\n|\r/, omittingEmptySubsequences: false)
      .firstIndex { line in
        line.replacing(/(^|[\s,\[{])("([^"\\]|\\.)*"|'[^']*')/, with: " ''").replacing(
          /(^|\s)#.*/, with: ""
        )
        .firstMatch(of: /(^|[\s,\[{])[&*][^\s]/) != nil
      }
      .map { $0 + 1 }
  }
}

extension Yams.Node {
  fileprivate var isScalar: Bool { self.scalar != nil }
}
