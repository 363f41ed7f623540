import MartletHTTP
import MartletModel
import MartletPush

/// The HTML page of the control interface, for people who watch the simulated devices.
///
/// The page shows every service, its newest devices, and the newest notifications that each device received. The newest
/// come first. The page reloads itself every few seconds.
struct DevicePage {
    private static let deviceLimit = 100
    private static let messageLimit = 20
    private static let interval = 3

    let state: SimulatorState

    var response: HTTPResponse {
        HTTPResponse(
            .ok,
            fields: [
                "content-type": "text/html; charset=utf-8", "cache-control": "no-store",
                "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'",
            ], body: .bytes(Array(html.utf8)))
    }

    private var html: String {
        let services = state.withContents { contents, _ in contents.services }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <meta http-equiv="refresh" content="\(Self.interval)">
            <title>Simulated push services</title>
            <style>\(Self.style)</style>
            <h1>Simulated push services</h1>
            \(services.map(Self.section).joined(separator: "\n"))
            </html>

            """
    }

    private static func section(_ service: SimulatedService) -> String {
        let devices = service.rules.devices
        let shown = devices.handles.suffix(deviceLimit).reversed()
        let articles = shown.compactMap { handle in devices[handle].map { article(handle, $0) } }
        let note = devices.count > deviceLimit ? "<p>The newest \(deviceLimit) of \(devices.count) devices.</p>" : ""
        return """
            <section>
            <h2>\(escape(service.platform.rawValue)) <small>\(escape(service.origin?.description ?? ""))</small></h2>
            \(articles.isEmpty ? "<p>No devices yet.</p>" : note + articles.joined(separator: "\n"))
            </section>
            """
    }

    private static func article(_ handle: String, _ device: SimulatedDevices.Device) -> String {
        let state = device.removedAt.map { "removed \($0.iso8601)" } ?? (device.listeners > 0 ? "listening" : "away")
        let messages = device.inbox.suffix(messageLimit).reversed().map(item)
        return """
            <article>
            <h3><code>\(escape(handle))</code></h3>
            <p>\(escape(device.app)), \(state), \(device.accepted) received</p>
            <ol reversed>\(messages.joined())</ol>
            </article>
            """
    }

    private static func item(_ delivery: SimulatedDelivery) -> String {
        let text = delivery.text.map { "<strong>\(escape($0))</strong> " } ?? ""
        return
            "<li><time>\(delivery.acceptedAt.iso8601)</time> \(text)<code>\(escape(delivery.payload.text))</code></li>"
    }

    /// Escapes text for HTML, both in content and in quoted attributes.
    static func escape(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    private static let style = """
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
        small, time { color: #666; font-weight: normal; }
        article { border: 1px solid #ccc; border-radius: 6px; padding: 0 1rem; margin: 1rem 0; }
        h3 { margin: .5rem 0; overflow-wrap: anywhere; font-size: 1rem; }
        li { overflow-wrap: anywhere; }
        """
}
