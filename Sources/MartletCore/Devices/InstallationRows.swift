import MartletModel

/// Converts an installation to registrations: one registration without a template, and one for each template. Each
/// secondary tile adds registrations in the same way (NotificationHubs.md, section 5.4).
struct InstallationRows {
    let installation: Installation
    let platform: any PushPlatform.Type
    let expiresAt: Timestamp?
    /// The templates that are already stored. The sizes of these templates are not checked again.
    var stored: Set<InstallationTemplate> = []

    /// Returns all rows of the installation.
    /// - Throws: `DeviceRegistryError.invalid` if the platform does not accept a channel or a template, if the
    ///   installation has secondary tiles but the platform does not support them, or if the installation's id is not
    ///   allowed in the tag `$InstallationId:{ID}`.
    func all() throws(DeviceRegistryError) -> [InstallationRow] {
        guard installation.secondaryTiles.isEmpty || platform.descriptor.registration.hasSecondaryTiles else {
            throw .invalid("The platform '\(installation.platform)' has no secondary tiles.")
        }
        var rows = try rows(
            channel: installation.pushChannel, templates: installation.templates,
            tags: try systemTags() + installation.tags)
        for (id, tile) in installation.secondaryTiles.sorted(by: { $0.key < $1.key }) {
            rows += try self.rows(
                channel: tile.pushChannel, templates: tile.templates,
                tags: try systemTags() + installation.tags + tile.tags, tile: id)
        }
        return rows
    }

    private func systemTags() throws(DeviceRegistryError) -> [Tag] {
        do throws(InstallationError) {
            return try installation.systemTags
        } catch {
            throw .invalid(error.description)
        }
    }

    private func rows(
        channel: InstallationChannel, templates: [String: InstallationTemplate], tags: [Tag], tile: String? = nil
    ) throws(DeviceRegistryError) -> [InstallationRow] {
        let handle = try channel.handle(on: platform.descriptor)
        let key: String
        do throws(PushServiceError) {
            key = try platform.key(of: handle)
        } catch {
            throw .invalid(error.description)
        }
        let native = RegistrationDraft(
            platform: installation.platform, handle: handle, handleKey: key, tags: tags.unique,
            pushVariables: installation.pushVariables, secondaryTile: tile, expiresAt: expiresAt)
        var rows = [InstallationRow(slot: InstallationSlot.native(tile: tile), registration: native)]
        for (name, template) in templates.sorted(by: { $0.key < $1.key }) {
            var draft = native
            draft.template = try complete(template, named: name)
            draft.tags = (tags + template.tags(named: name)).unique
            rows.append(InstallationRow(slot: InstallationSlot.template(name, tile: tile), registration: draft))
        }
        return rows
    }

    /// Converts a template of an installation to the template of a registration. Leaves out elements that the platform
    /// does not have, because some clients write headers for every platform.
    private func complete(
        _ template: InstallationTemplate, named name: String
    ) throws(DeviceRegistryError) -> Template {
        var whole = Template(name: name, body: template.body)
        for element in platform.descriptor.registration.templateElements {
            switch element {
            case .headers:
                whole.headers = template.headers.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }
            case .option(let option, _, _) where option.lowercased() == "expiry":
                whole.options[option] = template.expiry
            case .name, .option: break
            }
        }
        do throws(PushServiceError) {
            return try platform.prepared(whole, isStored: stored.contains(template))
        } catch {
            throw .invalid("The template '\(name.prefix(64))' is not valid: \(error)")
        }
    }
}
