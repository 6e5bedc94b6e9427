/** The page begins: with its data it becomes the map page; where they do not come, the plain page stays. */

import { openApp } from "./app.js";
import { loadPage } from "./data.js";

loadPage().then(openApp);
