//! The server: a listener that is bound before anything is said, and one thread that serves it.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use model::{Problem, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::access::{Access, Role};
use crate::app::App;
use crate::connections;
use crate::laboratory::Laboratory;
use crate::router::router;
use crate::settings::Settings;

/// Threads that read files for pages.
const FILE_THREADS: usize = 2;
/// A page that is being made when the server ends is waited for so long.
const GRACE: Duration = Duration::from_secs(2);

/// The page of a laboratory, which listens already.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    address: SocketAddr,
    stop: watch::Sender<bool>,
}

/// Ends a server from another thread.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Ends it: what is asked for already is still answered.
    pub fn stop(&self) {
        _ = self.0.send(true);
    }
}

impl Server {
    /// Listens where `settings` say.
    ///
    /// # Errors
    /// The address is somebody else's; a certificate that is none; a home that can't be written.
    pub fn bind(laboratory: Arc<dyn Laboratory>, settings: Settings) -> Result<Server> {
        let asked = settings.listening.address;
        if let Some(tls) = &settings.listening.tls {
            connections::acceptor(tls)?;
        }
        let listener = TcpListener::bind(asked).map_err(|error| {
            Problem::environment(format!("failed to listen at {asked}: {error}"))
                .key("--listen")
                .remedy("another port: --listen 127.0.0.1:0 takes a free one")
        })?;
        let address = listener.local_addr().map_err(|error| Problem::environment(error.to_string()))?;
        let app = Arc::new(App::new(laboratory, settings, address.port())?);
        Ok(Server { app, listener, address, stop: watch::Sender::new(false) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The page's address as a browser asks for it, without a path.
    pub fn origin(&self) -> &str {
        &self.app.origin
    }

    /// Its links and sessions.
    pub fn access(&self) -> &Access {
        &self.app.access
    }

    /// An address that signs one browser in, once.
    ///
    /// # Errors
    /// No room for it.
    pub fn link(&self, role: Role) -> Result<String> {
        Ok(format!("{}/?token={}", self.app.origin, self.app.access.new_link(role)?))
    }

    /// What ends it.
    pub fn stop(&self) -> Stop {
        Stop(self.stop.clone())
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// Threads that can't be had.
    pub fn serve(self) -> Result<()> {
        let runtime = runtime()?;
        let Server { app, listener, stop, .. } = self;
        let tls = app.settings.listening.tls.as_ref().map(connections::acceptor).transpose()?;
        let failed =
            |error: std::io::Error| Problem::environment(format!("failed to serve the page: {error}"));
        runtime.block_on(async {
            let listener = connections::listener(listener).map_err(failed)?;
            connections::serve(listener, router(app), tls, stop.subscribe()).await;
            Ok::<(), Problem>(())
        })?;
        runtime.shutdown_timeout(GRACE);
        Ok(())
    }
}

fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(FILE_THREADS)
        .thread_name("page")
        .build();
    runtime.map_err(|error| Problem::environment(format!("failed to start a thread: {error}")).into())
}
