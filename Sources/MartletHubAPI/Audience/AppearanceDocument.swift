import MartletCore
import MartletModel

/// An appearance as JSON: what a device shows for a payload. The JSON has no member for anything that the device does
/// not show.
struct AppearanceDocument {
    let appearance: Appearance

    var json: JSON {
        var members: [String: JSON] = [
            "look": .string(appearance.look), "isSilent": .bool(appearance.isSilent),
            "shownBy": .string(appearance.shownBy.rawValue), "actions": .array(appearance.actions.map(JSON.string)),
            "cautions": .array(appearance.cautions.map { .string($0.rawValue) }),
        ]
        members["title"] = appearance.title.map(JSON.string)
        members["subtitle"] = appearance.subtitle.map(JSON.string)
        members["text"] = appearance.text.map(JSON.string)
        members["picture"] = appearance.picture.map(JSON.string)
        members["link"] = appearance.link.map(JSON.string)
        members["badge"] = appearance.badge.map { .integer(Int64($0)) }
        members["badgeStep"] = appearance.badgeStep.map { .integer(Int64($0)) }
        members["sound"] = appearance.sound.map(JSON.string)
        if !appearance.isSilent, let lines = appearance.textLines {
            members["lines"] = ["text": .integer(Int64(lines))]
        }
        return .object(members)
    }
}
