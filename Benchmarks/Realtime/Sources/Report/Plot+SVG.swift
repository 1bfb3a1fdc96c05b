import Foundation

extension Plot {
  private static let panelWidth = 460.0
  private static let height = 380.0
  private static let margin = (left: 58.0, right: 22.0, top: 78.0, bottom: 52.0)
  /// Distinguishable for readers with red-green colour blindness (Okabe, Ito, 2008), on light and
  /// dark.
  private static let colors = ["#2a85c9", "#d55e00", "#009e73", "#b5679b"]

  /// The plot as SVG, with backgrounds for light and dark mode.
  var svg: String {
    let width = Self.panelWidth * Double(self.panels.count)
    let panels = self.panels.enumerated().map { index, panel in
      "<g transform=\"translate(\(Self.panelWidth * Double(index)) 0)\">\n\(self.svg(panel))</g>"
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(Self.height)" \
      width="\(width)" height="\(Self.height)" role="img">
      <title>\(self.title)</title>
      <style>
      text { font: 12px system-ui, sans-serif; fill: #1f2328 }
      .ground { fill: #ffffff } .grid { stroke: #d8dee4 } .reference { stroke: #656d76 }
      .title { font-size: 15px; font-weight: 600 } .head { font-weight: 600 }
      @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .ground { fill: #0d1117 } .grid { stroke: #30363d }
      .reference { stroke: #9198a1 }
      }
      </style>
      <rect class="ground" width="\(width)" height="\(Self.height)" rx="6"/>
      <text class="title" x="\(Self.margin.left)" y="26">\(self.title)</text>
      <text x="\(width - Self.margin.right)" y="26" text-anchor="end">\(self.subtitle)</text>
      \(panels.joined(separator: "\n"))
      </svg>

      """
  }

  private func svg(_ panel: Panel) -> String {
    var lines: [String] = []
    let (left, right) = (Self.margin.left, Self.panelWidth - Self.margin.right)
    let (top, bottom) = (Self.margin.top, Self.height - Self.margin.bottom)
    func x(_ value: Double) -> Double { left + panel.x.position(value) * (right - left) }
    func y(_ value: Double) -> Double { bottom - panel.y.position(value) * (bottom - top) }
    func text(_ value: String, _ x: Double, _ y: Double, _ attributes: String = "") {
      lines.append("<text x=\"\(x.text(1))\" y=\"\(y.text(1))\" \(attributes)>\(value)</text>")
    }
    for tick in panel.y.ticks {
      lines.append(
        "<path class=\"grid\" d=\"M\(left) \(y(tick).text(1))H\(right)\"/>")
      text(tick.text(2), left - 8, y(tick) + 4, "text-anchor=\"end\"")
    }
    for tick in panel.x.ticks {
      lines.append("<path class=\"grid\" d=\"M\(x(tick).text(1)) \(bottom)v5\"/>")
      text(tick.text(2), x(tick), bottom + 19, "text-anchor=\"middle\"")
    }
    text(panel.title, left, top - 28, "class=\"head\"")
    text(panel.x.label, (left + right) / 2, bottom + 40, "text-anchor=\"middle\"")
    let middle = (top + bottom) / 2
    text(
      panel.y.label, 16, middle,
      "text-anchor=\"middle\" transform=\"rotate(-90 16 \(middle.text(1)))\"")
    for reference in panel.references {
      lines.append(
        "<path class=\"reference\" stroke-dasharray=\"2 3\" "
          + "d=\"M\(left) \(y(reference.value).text(1))H\(right)\"/>")
      text(reference.name, left + 4, y(reference.value) - 5)
    }
    var legendX = left
    for series in panel.series {
      let color = Self.colors[series.color % Self.colors.count]
      let dash = series.isDashed ? " stroke-dasharray=\"6 4\"" : ""
      let path = series.points.map { "\(x($0.0).text(1)) \(y($0.1).text(1))" }
      lines.append(
        "<path fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"\(dash) "
          + "d=\"M\(path.joined(separator: "L"))\"/>")
      for point in series.points {
        lines.append(
          "<circle r=\"2.5\" stroke=\"none\" fill=\"\(color)\" cx=\"\(x(point.0).text(1))\" "
            + "cy=\"\(y(point.1).text(1))\"/>")
      }
      guard let name = series.name else { continue }
      lines.append(
        "<path stroke=\"\(color)\" stroke-width=\"2\"\(dash) "
          + "d=\"M\(legendX.text(1)) \(top - 14)h18\"/>")
      text(name, legendX + 22, top - 10)
      legendX += 34 + 6.2 * Double(name.count)
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension Plot.Axis {
  /// Returns the position of a value, from 0 to 1; values beyond the ends are clamped.
  fileprivate func position(_ value: Double) -> Double {
    let value = min(max(value, self.range.lowerBound), self.range.upperBound)
    let (low, high) = (self.range.lowerBound, self.range.upperBound)
    return self.isLog ? log(value / low) / log(high / low) : (value - low) / (high - low)
  }
}
