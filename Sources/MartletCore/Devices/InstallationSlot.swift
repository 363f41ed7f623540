/// Identifies a registration within its installation: a JSON pointer (RFC 6901) into the installation's document. The
/// pointer is unique within the document, and stays the same when the installation is written again.
enum InstallationSlot {
    /// Returns the slot of the registration without a template.
    /// - Parameter tile: The id of the secondary tile; nil for the installation's own channel.
    static func native(tile: String? = nil) -> String { "\(root(of: tile))/pushChannel" }

    /// Returns the slot of the registration with the template of the given name.
    /// - Parameter tile: The id of the secondary tile; nil for the installation's own channel.
    static func template(_ name: String, tile: String? = nil) -> String {
        "\(root(of: tile))/templates/\(escaped(name))"
    }

    /// Returns the slot of a registration.
    /// - Parameter template: The name of the template; nil for the registration without a template.
    static func slot(template: String?, tile: String?) -> String {
        template.map { self.template($0, tile: tile) } ?? native(tile: tile)
    }

    private static func root(of tile: String?) -> String { tile.map { "/secondaryTiles/\(escaped($0))" } ?? "" }

    private static func escaped(_ name: String) -> String {
        var text = ""
        for character in name.unicodeScalars {
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
