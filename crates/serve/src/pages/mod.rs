//! The pages, each made whole by the server: lists, forms and results work where no script runs.

mod compare;
mod fields;
mod home;
mod jobs;
mod kept;
mod limits;
mod live;
mod logs;
mod machine;
mod new;
mod over_time;
mod runs;
mod sign_in;
mod studies;

use crate::access::Role::{Reader, Runner};
use crate::endpoint::{Handler, Method, Route};

/// All pages, and what their forms do.
pub(crate) static ROUTES: &[Route] = &[
    page("/", home::page),
    page("/live", live::page),
    page("/new", new::choice),
    page("/new/{verb}", new::page),
    action("/new/{verb}", new::queue),
    page("/runs", runs::page).heavy_if(runs::folds_setups),
    action("/runs", runs::act),
    page("/runs/{run}", kept::run).heavy(),
    page("/runs/{run}/archive.tar.gz", logs::archive).heavy(),
    page("/runs/{run}/files", logs::files),
    page("/runs/{run}/log/{*file}", logs::log).heavy_if(logs::searches),
    page("/runs/{run}/files/{*file}", logs::file),
    action("/runs/{run}/notes", kept::set_notes),
    action("/runs/{run}/delete", kept::delete),
    page("/compare", compare::page).heavy_if(compare::has_two),
    page("/trend", over_time::page).heavy_if(over_time::is_overview),
    page("/studies", studies::page).heavy(),
    page("/studies/{study}", studies::study).heavy(),
    action("/studies/{study}/resume", studies::resume),
    page("/studies/{study}/runs/{run}/report.html", studies::trial).heavy(),
    action("/jobs/{job}", jobs::act),
    action("/queue", jobs::pause),
    page("/jobs/{job}", jobs::page),
    page("/machine", machine::page),
    page("/limits", limits::page).heavy(),
    page("/help", machine::help),
    Route::of(Method::Get, "/sign-in", Reader, sign_in::page),
    Route::of(Method::Post, "/sign-in", Reader, sign_in::act),
    Route::of(Method::Post, "/sign-out", Reader, sign_in::out),
];

const fn page(path: &'static str, handler: Handler) -> Route {
    Route::of(Method::Get, path, Reader, handler)
}

const fn action(path: &'static str, handler: Handler) -> Route {
    Route::of(Method::Post, path, Runner, handler)
}
