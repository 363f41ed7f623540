import MartletModel

extension PushClient {
    /// The state of this device's registration.
    public var registrationState: RegistrationState {
        get async {
            if let state = registration.state { return state }
            let kept = await registrationRecord.value.state
            // Another task may have set the state while `kept` was read from the store. The other task's state is
            // newer, so it is not overwritten.
            if registration.state == nil { registration.tell(kept) }
            return registration.state ?? kept
        }
    }

    /// The current state of this device's registration, followed by every later state.
    ///
    /// A slow reader gets only the latest state. Any number of readers is allowed.
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
    /// If the call throws for a temporary reason, or because no user is logged in, the registration is done in the
    /// background as soon as possible. `registrationStates` then reports it.
    /// - Parameters:
    ///   - deviceToken: The bytes that the system provided at this launch, such as the `Data` of
    ///     `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    ///   - platform: The push platform.
    ///   - tags: The tags by which senders can address the device, in addition to its user's name.
    ///   - language: The language tag, such as `de-AT`, of the language in which the device shows a ``Message`` with
    ///     several languages; nil selects the message's own language.
    /// - Throws: `PushClientError`.
    public func register(
        deviceToken: some Sequence<UInt8>, platform: Platform, tags: [String] = [], language: String? = nil
    ) async throws(PushClientError) {
        try await register(
            handle: DeviceToken.hexadecimal(deviceToken), platform: platform, tags: tags, language: language)
    }

    /// Registers this device on a platform whose handle is a text, such as a registration token or the address of a
    /// channel.
    ///
    /// Otherwise it works like `register(deviceToken:platform:tags:language:)`.
    public func register(
        handle: String, platform: Platform, tags: [String] = [], language: String? = nil
    ) async throws(PushClientError) {
        try await carryOut(
            .register(
                DeviceRegistration(handle: handle, platform: platform.rawValue, tags: tags, language: language)))
    }

    /// Changes the tags by which senders can address the device, in addition to its user's name. The device token is
    /// the last one that the app has passed since the launch.
    ///
    /// Otherwise it works like `register(deviceToken:platform:tags:language:)`.
    /// - Throws: `PushClientError`, of kind `tokenNeeded` if no token has been passed since the launch: then pass a
    ///   token to `register`, together with the tags.
    public func changeTags(to tags: [String]) async throws(PushClientError) {
        guard let device = registration.device else { throw .tokenNeeded }
        try await carryOut(
            .register(
                DeviceRegistration(
                    handle: device.handle, platform: device.platform, tags: tags, language: device.language)))
    }

    /// Removes this device's registration, so that the device gets no more notifications. Does nothing if there is no
    /// registration.
    ///
    /// If the call throws for a temporary reason, the removal is retried in the background.
    public func unregister() async throws(PushClientError) {
        try await carryOut(.unregister)
    }

    /// Records that the system provided no device token. Call it from
    /// `application(_:didFailToRegisterForRemoteNotificationsWithError:)`.
    /// - Parameters:
    ///   - error: The system's error. It is ignored, because the only remedy for any error is to ask again.
    ///   - askAgain: Asks the system for a token again, for example with `registerForRemoteNotifications()`. Called by
    ///     `resume()`, and after a wait that grows with each failure.
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

    /// Withdraws the app's wish for the registration, because the user logs out.
    func giveUpRegistration() {
        _ = registration.add(nil)
        registration.tell(.unregistered)
    }

    /// Carries out the open wish for the registration in the background, after a log-in. If no wish is open, registers
    /// the device again, because it may be registered for another user.
    func registerAfterLogIn() {
        if registration.open == nil, let device = registration.device { _ = registration.add(.register(device)) }
        guard registration.open != nil, retry.keepsTrying else { return }
        registration.isInBackground = true
        runBackgroundRetries()
    }

    /// Carries out a wish of the app for the registration. Stops once the app has a newer wish.
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

    /// Tries to fulfil the open wish in the background.
    /// - Returns: The failure after which the wish is tried again; nil if it need not be tried again.
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

    /// Carries out an unregistration that was left pending by an earlier process. A registration that was left pending
    /// waits for the device token instead.
    /// - Returns: The failure after which the unregistration is tried again; nil if it need not be tried again.
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
            // If the app passes a token during this call, that is a newer wish, which supersedes this one.
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
            // If the app has a newer wish, `due` is not cleared, because the newer wish has not been carried out yet.
            if number == registration.number { await registrationRecord.change { $0.due = nil } }
        }
        guard number == registration.number else { return }
        registration.close()
        registration.tell(wish == .unregister ? .unregistered : .registered)
    }

    /// Decides what happens to a wish that failed: whether it is retried, and which state is reported.
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
        // Another user has logged in meanwhile, and the wish is retried for that user.
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
        // A user who logs out and logs in again gets the same id. So pending log-outs that would remove the
        // registration with this id are dropped.
        await logIns.change { $0.departures.removeAll { $0.registration == id } }
        // A log-out after this line finds the id in the record and removes the registration. If the user has changed
        // before this line, the id is removed from the record, and the device is not registered.
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

    /// Sends the registration of a device to the server, under an id.
    /// - Returns: false if the id can no longer be used (status 410).
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

    /// Runs `work` after all earlier calls of this function have ended, so that requests about registrations and
    /// log-outs are sent one after another.
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
