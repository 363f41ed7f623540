import MartletModel

extension PushClient {
    /// How it is with the registration of this device.
    public var registrationState: RegistrationState {
        get async {
            if let state = registration.state { return state }
            let kept = await registrationRecord.value.state
            // Another may have come meanwhile.
            if registration.state == nil { registration.tell(kept) }
            return registration.state ?? kept
        }
    }

    /// The present state and every later one; a slow reader gets the latest alone. Any number may read.
    public var registrationStates: AsyncStream<RegistrationState> {
        get async {
            let (states, observer) = AsyncStream.makeStream(
                of: RegistrationState.self, bufferingPolicy: .bufferingNewest(1))
            observer.yield(await registrationState)
            let number = registration.add(observer)
            observer.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
            return states
        }
    }

    private func removeObserver(_ number: Int) {
        registration.removeObserver(number)
    }

    /// Registers this device for the user who is logged in, or changes its registration.
    ///
    /// If this throws for a temporary reason, or because no user is logged in, the registration is done in the
    /// background as soon as it can be; `registrationStates` tells when.
    /// - Parameters:
    ///   - deviceToken: The bytes that the system gave at this launch, such as the `Data` of
    ///     `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    ///   - platform: The push platform.
    ///   - tags: What the device shall be addressed by besides its user's name.
    ///   - language: The language tag, such as `de-AT`, of what the device is to show of a ``Message`` that has several
    ///     languages; nil leaves it to the message.
    /// - Throws: `PushClientError`.
    public func register(
        deviceToken: some Sequence<UInt8>, platform: Platform, tags: [String] = [], language: String? = nil
    ) async throws(PushClientError) {
        try await register(
            handle: DeviceToken.hexadecimal(deviceToken), platform: platform, tags: tags, language: language)
    }

    /// Registers this device where the platform's handle is a text, such as a registration token or a channel's address.
    ///
    /// As `register(deviceToken:platform:tags:language:)` in all else.
    public func register(
        handle: String, platform: Platform, tags: [String] = [], language: String? = nil
    ) async throws(PushClientError) {
        try await carryOut(
            .register(
                DeviceRegistration(handle: handle, platform: platform.rawValue, tags: tags, language: language)))
    }

    /// Changes what the device is addressed by besides its user's name, with the token that the app has passed at this
    /// launch.
    ///
    /// As `register(deviceToken:platform:tags:language:)` in all else.
    /// - Throws: `PushClientError`, of kind `tokenNeeded` where no token was passed since the launch: pass it with the tags.
    public func changeTags(to tags: [String]) async throws(PushClientError) {
        guard let device = registration.device else { throw .tokenNeeded }
        try await carryOut(
            .register(
                DeviceRegistration(
                    handle: device.handle, platform: device.platform, tags: tags, language: device.language)))
    }

    /// Removes this device's registration, so that it is notified no more. Does nothing where there is none.
    ///
    /// Where this throws for a reason that may pass, it is tried on in the background.
    public func unregister() async throws(PushClientError) {
        try await carryOut(.unregister)
    }

    /// Records that the system gave no device token, for
    /// `application(_:didFailToRegisterForRemoteNotificationsWithError:)`.
    /// - Parameters:
    ///   - error: The system's; it is not looked at, since nothing but trying again helps with any of them.
    ///   - askAgain: Asks the system once more, such as by `registerForRemoteNotifications()`. Called after a while that
    ///     grows from failure to failure, and by `resume()`.
    public func registrationFailed(_ error: any Error, askAgain: @escaping @Sendable () async -> Void) async {
        _ = registration.add(.askAgain)
        registration.isInBackground = true
        registration.askAgain = askAgain
        registration.tell(.tokenNeeded)
        await registrationRecord.change { $0.due = .register }
        runBackgroundRetries(afterFailure: true)
    }
}

extension PushClient {
    nonisolated func registerPath(_ id: String) -> String { "/api/register/\(percentEncoded(id))" }

    /// The registered user logs out: nothing is wanted any more.
    func giveUpRegistration() {
        _ = registration.add(nil)
        registration.tell(.unregistered)
    }

    /// What waited for a log-in is done now; and another user may have logged in, whom what is registered is not of.
    func registerAfterLogIn() {
        if registration.open == nil, let device = registration.device { _ = registration.add(.register(device)) }
        guard registration.open != nil, retry.keepsTrying else { return }
        registration.isInBackground = true
        runBackgroundRetries()
    }

    /// Does what the app wants, and none any more once it wants something else.
    private func carryOut(_ wish: DesiredRegistration.Wish) async throws(PushClientError) {
        let number = registration.add(wish)
        registration.tell(.underWay)
        await registrationRecord.change { $0.due = wish == .unregister ? .unregister : .register }
        do throws(PushClientError) {
            try await retrying(endsWithUser: false) { () throws(RetryableFailure) in try await attempt(wish, number) }
        } catch {
            settle(error, number)
            throw error
        }
    }

    /// Tries the open wish in the background.
    /// - Returns: What keeps it from being fulfilled for now.
    func retryRegistration() async -> RetryableFailure? {
        guard registration.isInBackground, let wish = registration.open else { return await leftUnregistration() }
        let number = registration.number
        do throws(RetryableFailure) {
            try await attempt(wish, number)
            return nil
        } catch {
            settle(error.error, number)
            return number == registration.number && registration.isInBackground ? error : nil
        }
    }

    /// An unregistration of an earlier launch. A registration of one waits for the token.
    private func leftUnregistration() async -> RetryableFailure? {
        guard registration.open == nil, await registrationRecord.value.due == .unregister, registration.open == nil
        else {
            return nil
        }
        _ = registration.add(.unregister)
        registration.isInBackground = true
        return await retryRegistration()
    }

    private func attempt(_ wish: DesiredRegistration.Wish, _ number: Int) async throws(RetryableFailure) {
        if wish == .askAgain {
            // What the app passes then is a wish of its own.
            await registration.askAgain?()
            throw number == registration.number ? .tokenNeeded : .superseded
        }
        try await takeTurn { () throws(RetryableFailure) in
            guard number == registration.number else { throw .superseded }
            if case .register(let device) = wish {
                try await put(device, number)
            } else {
                try await removeRegistration()
            }
            // What is wanted by now is still due.
            if number == registration.number { await registrationRecord.change { $0.due = nil } }
        }
        guard number == registration.number else { return }
        registration.close()
        registration.tell(wish == .unregister ? .unregistered : .registered)
    }

    /// Decides what becomes of a wish that failed.
    private func settle(_ error: PushClientError, _ number: Int) {
        guard number == registration.number else { return }
        let wasInBackground = registration.isInBackground
        registration.isInBackground = false
        switch error.kind {
        case .logInNeeded: registration.tell(.logInNeeded)
        case .tokenNeeded:
            registration.isInBackground = true
            registration.tell(.tokenNeeded)
        case .cancelled where !wasInBackground: tryOn(error, isNew: true)
        // Another user has logged in meanwhile: it is done for that one.
        case .superseded: tryOn(error, isNew: !wasInBackground)
        case _ where error.mayPass: tryOn(error, isNew: !wasInBackground)
        default:
            registration.close()
            registration.tell(.refused(error))
        }
    }

    private func tryOn(_ error: PushClientError, isNew: Bool) {
        registration.isInBackground = true
        registration.tell(.waiting(error))
        if isNew { runBackgroundRetries(afterFailure: true) }
    }

    private func put(_ device: DeviceRegistration, _ number: Int) async throws(RetryableFailure) {
        let user = lastUser
        var device = device
        device.keyMembers = try await keyMembers()
        if let id = await registrationRecord.value.id {
            guard user == lastUser else { throw .superseded }
            if try await put(device, id: id) { return }
            await registrationRecord.change { $0.id = nil }
        }
        guard user == lastUser else { throw .superseded }
        let id = try await newID(for: device.handle)
        await registrationRecord.change { $0.id = id }
        // Who logged out and is back gets the same id again, which is not to be removed then.
        await logIns.change { $0.departures.removeAll { $0.registration == id } }
        // From here on a log-out knows the id that it has to remove.
        guard user == lastUser, number == registration.number else {
            if user != lastUser { await registrationRecord.change { if $0.id == id { $0.id = nil } } }
            throw .superseded
        }
        guard try await put(device, id: id) else {
            await registrationRecord.change { $0.id = nil }
            throw .final(.serverProblem(status: 410), "The server took back the registration's new id.")
        }
    }

    private func newID(for handle: String) async throws(RetryableFailure) -> String {
        let answer = try await ask(request("POST", "/api/register?handle=\(percentEncoded(handle))"))
        guard answer.status == 200 else { throw RetryableFailure(answer) }
        guard let id = (try? JSON(parsing: answer.body))?.string, !id.isEmpty else {
            throw .final(.serverProblem(status: 200), "The server's answer holds no registration id.")
        }
        return id
    }

    /// - Returns: false where the id can no longer be used.
    private func put(_ device: DeviceRegistration, id: String) async throws(RetryableFailure) -> Bool {
        let answer = try await ask(request("PUT", registerPath(id), device.json))
        if answer.status == 410 { return false }
        guard answer.status == 200 else { throw RetryableFailure(answer) }
        return true
    }

    private func removeRegistration() async throws(RetryableFailure) {
        if let id = await registrationRecord.value.id {
            let answer = try await ask(request("DELETE", registerPath(id)))
            guard [200, 204, 404, 410].contains(answer.status) else { throw RetryableFailure(answer) }
        }
        await registrationRecord.change { $0.id = nil }
    }

    /// Does one thing about registrations at a time.
    func takeTurn(_ work: () async throws(RetryableFailure) -> Void) async throws(RetryableFailure) {
        await mutex.take()
        let outcome: Result<Void, RetryableFailure>
        do throws(RetryableFailure) {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        await mutex.leave()
        try outcome.get()
    }
}
