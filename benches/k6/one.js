// One request again and again, for k6.
import http from "k6/http";

export const options = { discardResponseBodies: true, noUsageReport: true };

export default function () {
  http.get(__ENV.URL);
}
